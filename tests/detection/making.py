"""Small tables and rows that tests change by hand."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from governance.detection.behaviour import DTYPE, NO_FAILURE, Rows
from governance.detection.streams import Recorded
from governance.detection.tasks import Task, TaskTable

START = datetime(2031, 1, 6, tzinfo=UTC)
WEEK = timedelta(days=7)
DOMAINS = ("general", "finance", "supply_chain", "manufacturing")


def table(size: int, *, public: int = 0) -> TaskTable:
    """Tasks dealt out over four domains, five categories, four operations and three tiers, in mixed order."""
    order = np.random.default_rng(1).permutation(size + public)
    return TaskTable(
        [
            Task(
                id=f"T{number:04d}",
                domain=DOMAINS[number % 4],
                category=str(number // 4 % 5),
                operation=("query", "document", "analysis", "operation")[number // 20 % 4],
                tier=number // 7 % 3,
                family=number // 8,
                order=int(order[number]),
                public=number >= size,
            )
            for number in range(size + public)
        ]
    )


def rows(size: int, *, successes: Sequence[int] | None = None, seed: int = 0) -> Rows:
    """A deterministic harness: three runs, an artefact of its own for every task, 20,000 tokens more or less."""
    rng = np.random.default_rng([7, seed])
    made = np.zeros(size, dtype=DTYPE)
    made["artefact"] = 1_000_000 * (seed + 1) + np.arange(size)
    made["log_tokens"] = rng.normal(10, 0.4, size)
    made["log_duration"] = made["log_tokens"] - 4.5
    made["runs"] = made["valid"] = 3
    made["successes"] = np.where(np.arange(size) % 2 == 0, 3, 0) if successes is None else successes
    made["partial"] = np.where(made["successes"] == 3, NO_FAILURE, 60)
    return made


def changed(before: Rows, places: Sequence[int], **values: Any) -> Rows:
    """The same rows but for these columns at these places."""
    after = before.copy()
    for column, value in values.items():
        after[column][list(places)] = value
    return after


def recorded(made: Rows, number: int, *, account: str = "a", organisation: str = "") -> Recorded:
    """The rows as a submission of this line."""
    return Recorded(
        id=f"{account}-{number}",
        account=account,
        organisation=organisation or f"of-{account}",
        version="v1",
        submitted_at=START + number * WEEK,
        digest=f"sha256:{account}-{number}",
        base_model="model",
        rows=made,
    )
