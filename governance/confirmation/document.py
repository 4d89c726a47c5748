"""The canonical document of a dated release: what it holds, its exact bytes, and how it is read again."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from audit.canonical import timestamp
from governance.confirmation import names
from governance.confirmation.models import ConfirmationRun, ReleaseDate

SCHEMA = "dated-release/1"


def text(
    label: str, dated_at: datetime, published: Iterable[ConfirmationRun], withdrawn: Mapping[str, int]
) -> str:
    """Sorted keys, no spaces. Results stand by organisation and harness, never by score."""
    results = sorted((_entry(row) for row in published), key=_by_name)
    body = {
        "schema": SCHEMA,
        "label": label,
        "dated_at": timestamp(dated_at),
        "results": results,
        "withdrawn": dict(withdrawn),
    }
    return json.dumps(body, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def _by_name(entry: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(str(entry[name]) for name in ("organisation", "harness", "harness_version", "id"))


def _entry(row: ConfirmationRun) -> dict[str, Any]:
    submission, result = row.submission, row.result
    version = submission.harness_version
    values: dict[str, Any] = dict(result.values)
    return {
        "id": str(row.id),
        **names.of_submission(submission),
        "harness_version": version.version,
        "relation": version.harness.relation,
        "enterprise": values.pop("enterprise", None),
        "domains": values,
        "sides": result.sides,
        "runs_per_task": submission.runs_per_task,
        "coverage": result.coverage,
        "policy": result.policy.profile,
        "versions": {
            "task_set": row.task_set.label,
            "protocol": submission.protocol_version,
            "evaluator": submission.evaluator_version,
        },
    }


def read(date: ReleaseDate) -> dict[str, Any]:
    """What the stored document says; empty where there is none."""
    found: dict[str, Any] = json.loads(date.document) if date.document else {}
    return found


def entry_of(row: ConfirmationRun) -> dict[str, Any] | None:
    """What a dated release says of a confirmation run; None where none has published it."""
    if row.release_date is None or row.state != ConfirmationRun.State.CONFIRMED:
        return None
    entries = read(row.release_date).get("results", [])
    return next((entry for entry in entries if entry["id"] == str(row.id)), None)
