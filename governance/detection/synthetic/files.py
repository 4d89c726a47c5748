"""A made-up history as a stream directory, for trying the commands out."""

from __future__ import annotations

import gzip
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from governance.detection.behaviour import Runs
from governance.detection.streams import Recorded
from governance.detection.synthetic.worlds import World
from governance.detection.tasks import Mask


def write(world: World, folder: Path) -> None:
    """`tasks.jsonl` and `submissions.jsonl.gz` as `governance replay` reads them."""
    folder.mkdir(parents=True, exist_ok=True)
    tasks = "".join(json.dumps(asdict(task)) + "\n" for task in world.table.tasks)
    (folder / "tasks.jsonl").write_text(tasks, encoding="utf-8")
    with gzip.open(folder / "submissions.jsonl.gz", "wt", encoding="utf-8") as lines:
        for recorded, runs in zip(world.submissions, world.runs, strict=True):
            lines.write(json.dumps(_submission(recorded, runs, world)) + "\n")


def _submission(recorded: Recorded, runs: Runs, world: World) -> dict[str, Any]:
    return {
        "id": recorded.id,
        "account": recorded.account,
        "organisation": recorded.organisation,
        "version": recorded.version,
        "submitted_at": recorded.submitted_at.isoformat(),
        "harness_digest": recorded.digest,
        "base_model": recorded.base_model,
        "results": _columns(runs, world.table.held_out),
        "public": _columns(runs, world.table.public),
    }


def _columns(runs: Runs, mask: Mask) -> dict[str, Any]:
    artefacts = [[format(int(cell), "012x") if cell else None for cell in row] for row in runs.artefact[mask]]
    return {
        "artifact": artefacts,
        "score": np.round(runs.score[mask], 3).tolist(),
        "success": runs.success[mask].tolist(),
        "tokens": runs.tokens[mask].tolist(),
        "duration": np.round(runs.duration[mask], 1).tolist(),
        "status": np.where(runs.ok[mask], "ok", "crashed").tolist(),
    }
