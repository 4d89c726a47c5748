"""A sealed export as it is read: one JSON file, checked for its form before anything in it is believed.

    sealed-export.json
      schema       lingee-sealed-export/1
      submission, task_set, label
      log          verifier keys of the log, oldest first
      release      tlog-proof of the event `result.released`, the entry itself in its `extra` line
      frozen       tlog-proof of the event `task_set.frozen`
      runs         [{"leaf": {…}, "hash": hex}], sorted by episode (audit.merkle.commitment, RUN_FIELDS)
      assets       [{"leaf": {…}, "hash": hex}], sorted by task id (ASSET_FIELDS)
      policy       the release policy row, half widths included
      aggregates   by domain: task_score (ten places), tasks, valid_tasks, runs, valid_runs

Nothing in it is content of a task, an artefact or an answer.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from client.audit.report import WrongQuestion

SCHEMA = "lingee-sealed-export/1"
FILE = "sealed-export.json"
LARGEST = 64 << 20
_FIELDS: dict[str, type] = {
    "schema": str,
    "submission": str,
    "task_set": str,
    "label": str,
    "log": list,
    "release": str,
    "frozen": str,
    "runs": list,
    "assets": list,
    "policy": dict,
    "aggregates": dict,
}


@dataclass(frozen=True)
class Member:
    """One leaf, and the hash that the export says it has (32 bytes)."""

    leaf: dict[str, Any]
    hash: bytes


@dataclass(frozen=True)
class SealedExport:
    """The parts, of the right types and not believed yet."""

    submission: str
    task_set: str
    label: str
    release: str
    frozen: str
    runs: list[Member]
    assets: list[Member]
    policy: dict[str, Any]
    aggregates: dict[str, Any]


def read(path: Path) -> SealedExport:
    """The export at `path`, the file or the directory that holds it. Raises WrongQuestion."""
    file = path / FILE if path.is_dir() else path
    try:
        if file.stat().st_size > LARGEST:
            raise WrongQuestion(f"{file} is larger than any sealed export")
        body = json.loads(file.read_bytes())
    except OSError as error:
        raise WrongQuestion(f"{file} cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise WrongQuestion(f"{file} is no JSON") from error
    return parse(body)


def parse(body: object) -> SealedExport:
    """The export in a parsed JSON value. Raises WrongQuestion."""
    if not isinstance(body, dict) or body.get("schema") != SCHEMA:
        raise WrongQuestion(f"this is no sealed export of schema {SCHEMA}")
    if set(body) != set(_FIELDS) or not all(isinstance(body[name], kind) for name, kind in _FIELDS.items()):
        raise WrongQuestion("a field of the sealed export is missing, of the wrong type, or unknown")
    return SealedExport(
        **{name: body[name] for name in ("submission", "task_set", "label", "release", "frozen")},
        runs=[_member(item) for item in body["runs"]],
        assets=[_member(item) for item in body["assets"]],
        policy=body["policy"],
        aggregates=body["aggregates"],
    )


def _member(item: object) -> Member:
    try:
        if not isinstance(item, dict) or set(item) != {"leaf", "hash"} or not isinstance(item["leaf"], dict):
            raise WrongQuestion("a leaf of the sealed export is none")
        digest = bytes.fromhex(item["hash"])
    except (TypeError, ValueError) as error:
        raise WrongQuestion("a leaf of the sealed export has no hash") from error
    return Member(item["leaf"], digest)
