"""Wrong answers that are worth less for one submission and then exactly as much as before.

Under edits that touch everything, a deterministic harness keeps the credit of a wrong answer or loses it for good. An
answer that is spoilt once comes back exactly, task by task; a rollback brings nearly everything back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from governance.detection.behaviour import ACTIVE, NO_FAILURE, Rows
from governance.detection.explanation import PER_GROUP, explain
from governance.detection.statistics import poisson_tail
from governance.detection.tasks import Mask, TaskTable

NAME = "echo"
EXPECTED = (0.1, 0.0002, 0.0007)
"""Echoes to expect: so many, for each wrong answer that came back, and for each that changed: of some 750 credits one
is hit again by chance, and half of the changes are falls."""
ROLLBACK, FEWEST_CHANGED = 0.5, 4
"""From this share of returning outcomes on, among at least so many changed ones, the edit was taken back."""


@dataclass(frozen=True)
class Echoes:
    """Of one submission: the tasks, and how many wrong answers came back and changed at all."""

    tasks: Mask
    steady: int
    changed: int


def echoes(history: Rows, table: TaskTable) -> Echoes:
    """Of the submission before the last, between its neighbours; only tasks whose artefact changed both times."""
    before, here, after = history[-3], history[-2], history[-1]
    agreed = (history[-3:]["artefact"] != 0).all(axis=0) & (history[-3:]["activity"] == ACTIVE).all(axis=0)
    rewritten = agreed & (before["artefact"] != here["artefact"]) & (here["artefact"] != after["artefact"])
    rewritten &= before["artefact"] != after["artefact"]
    wrong = rewritten & (history[-3:]["successes"] == 0).all(axis=0) & (before["partial"] != NO_FAILURE)
    came_back = before["partial"] == after["partial"]
    moved = here["partial"] != before["partial"]
    steady = wrong & came_back & (before["partial"] > 0)
    other = rewritten & (moved | (here["successes"] != before["successes"]))
    returned = other & came_back & (before["successes"] == after["successes"])
    if other.sum() >= FEWEST_CHANGED and returned.sum() >= ROLLBACK * other.sum():
        return Echoes(np.zeros_like(wrong), 0, 0)
    left = steady & (here["partial"] < before["partial"])
    if left.sum() >= PER_GROUP:  # of fewer any family would be an explanation
        judged = explain(left, wrong, table)
        left = np.zeros_like(wrong) if judged.explained else judged.left
    return Echoes(left, int(steady.sum()), int((wrong & moved).sum()))


def tail(found: Sequence[Echoes]) -> float:
    """P(so many echoes over the line's life)."""
    count = sum(int(one.tasks.sum()) for one in found)
    steady, changed = sum(one.steady for one in found), sum(one.changed for one in found)
    return poisson_tail(count, EXPECTED[0] + EXPECTED[1] * steady + EXPECTED[2] * changed)
