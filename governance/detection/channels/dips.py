"""Tasks that the harness solves before and after, and fails here: more of them than its own record forecasts.

Only inside a stretch of sparse edits, where the record of the harness is one record.
"""

from __future__ import annotations

import numpy as np

from governance.detection.behaviour import ACTIVE, Rows
from governance.detection.contrasts import DENSE, SPARSE_RUNS, Contrast
from governance.detection.explanation import explain
from governance.detection.findings import Finding, nothing
from governance.detection.statistics import all_fail, poisson_tail
from governance.detection.tasks import TaskTable

NAME = "dips"
PRIOR = (0.5, 0.5)
"""Jeffreys."""
CHURN = 0.05
"""Dips to expect for each artefact that a rebuild shakes: one in twenty fails for once."""
FEWEST_DETERMINISTIC = 30
"""With fewer nobody can say whether an edit was sparse."""


def judge(history: Rows, last: tuple[Contrast, Contrast], table: TaskTable) -> Finding:
    """The submission before the last of `history`, against the others of its stretch; `last` are its two contrasts."""
    middle, size = len(history) - 2, history.shape[1]
    runs = int(history["runs"][middle][0])
    if runs < SPARSE_RUNS or not sparse(last):
        return nothing(NAME, size)
    here = history[middle]
    others = np.delete(np.arange(len(history)), middle)
    rows = history[others]
    usable = (history[-3:]["activity"] == ACTIVE).all(axis=0)
    neighbours = history[[middle - 1, middle + 1]]
    full = (neighbours["successes"] == neighbours["runs"]).all(axis=0) & usable
    dip = full & (here["successes"] == 0)
    judged = explain(dip, usable, table)
    if judged.explained or not dip.any():
        return nothing(NAME, size)
    forecast = all_fail(rows["successes"].sum(axis=0), rows["runs"].sum(axis=0, dtype=int), runs, PRIOR)
    count = int(judged.left.sum())
    churn = min(int(one.changed_hash.sum()) for one in last)
    p = poisson_tail(count, float(forecast[full].sum()) + CHURN * churn)
    return Finding(NAME, p, judged.left, count, judged.score)


def sparse(last: tuple[Contrast, Contrast]) -> bool:
    """Whether both edits are known to have touched little."""
    return all(one.density < DENSE and one.deterministic.sum() >= FEWEST_DETERMINISTIC for one in last)
