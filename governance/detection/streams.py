"""Reading a directory of recorded submissions: `tasks.jsonl` and `submissions.jsonl.gz`.

Labels, where a directory has them, are never opened here.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from governance.detection.behaviour import Rows, Runs, summarise
from governance.detection.tasks import Task, TaskTable


@dataclass(frozen=True)
class Recorded:
    """One submission as the detectors see it: who, when, which files, and its rows for every task of the table."""

    id: str
    account: str
    organisation: str
    version: str
    submitted_at: datetime
    digest: str
    base_model: str
    rows: Rows


def read_tasks(folder: Path) -> TaskTable:
    """The bank of a stream; held-out tasks come first."""
    lines = (folder / "tasks.jsonl").read_text(encoding="utf-8").splitlines()
    return TaskTable([_task(json.loads(line)) for line in lines])


def read_submissions(folder: Path) -> Iterator[Recorded]:
    """The submissions in time order, one at a time."""
    with gzip.open(folder / "submissions.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            yield recorded(json.loads(line))


def recorded(content: dict[str, Any]) -> Recorded:
    """One line of a stream; raises KeyError or ValueError for a malformed one."""
    held_out, public = _runs(content["results"]), _runs(content["public"])
    # Held-out tasks and public ones are summarised apart: a template of one says nothing about the other.
    rows = np.concatenate([summarise(held_out), summarise(public)])
    return Recorded(
        id=content["id"],
        account=content["account"],
        organisation=content["organisation"],
        version=content["version"],
        submitted_at=datetime.fromisoformat(content["submitted_at"]),
        digest=content["harness_digest"],
        base_model=content["base_model"],
        rows=rows,
    )


def _task(content: dict[str, Any]) -> Task:
    return Task(
        id=content["id"],
        domain=content["domain"],
        category=str(content["category"]),
        operation=str(content["operation"]),
        tier=int(content["tier"]),
        family=int(content["family"]),
        order=int(content["order"]),
        public=bool(content["public"]),
    )


def _runs(columns: dict[str, Any]) -> Runs:
    artefact = [[int(cell, 16) if cell else 0 for cell in row] for row in columns["artifact"]]
    return Runs(
        artefact=np.array(artefact, dtype=np.uint64),
        tokens=np.array(columns["tokens"], dtype=np.float64),
        duration=np.array(columns["duration"], dtype=np.float64),
        success=np.array(columns["success"], dtype=np.uint8),
        score=np.array(columns["score"], dtype=np.float64),
        ok=np.array([[cell == "ok" for cell in row] for row in columns["status"]], dtype=bool),
    )
