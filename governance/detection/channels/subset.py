"""Harnesses that answer only chosen tasks and send a template for the rest: the only channel that needs no second
submission."""

from __future__ import annotations

import numpy as np

from governance.detection.behaviour import ACTIVE, IDLE, Rows
from governance.detection.explanation import explain
from governance.detection.findings import Finding, nothing
from governance.detection.statistics import SMALLEST_P
from governance.detection.tasks import TaskTable

NAME = "subset"
ACTIVE_SHARE = 0.5
"""Under half of a domain answered."""
FEWEST = 5
"""Answered tasks from which an explanation can be judged."""


def judge(rows: Rows, table: TaskTable) -> Finding:
    """The answered tasks, where some domain is mostly idle and metadata does not say which tasks are answered."""
    alive = (rows["activity"] == ACTIVE) | (rows["activity"] == IDLE)
    active = rows["activity"] == ACTIVE
    sizes = np.bincount(table.domains[alive], minlength=4)
    answered = np.bincount(table.domains[active], minlength=len(sizes))
    idle = np.bincount(table.domains[rows["activity"] == IDLE], minlength=len(sizes))
    mostly = (sizes > 0) & (answered < ACTIVE_SHARE * sizes) & (idle > 0)
    if not mostly.any() or active.sum() < FEWEST:
        return nothing(NAME, len(rows))
    inside = alive & mostly[table.domains]
    chosen = active & inside
    judged = explain(chosen, inside, table)
    if judged.explained:
        return nothing(NAME, len(rows))
    count = int(judged.left.sum())
    if count < FEWEST:
        return nothing(NAME, len(rows))
    return Finding(NAME, SMALLEST_P, judged.left, count, judged.score)
