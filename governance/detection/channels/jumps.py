"""Hard tasks that were never solved and from now on always are: more of them than the easier ones forecast."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from governance.detection.behaviour import ACTIVE, Rows
from governance.detection.contrasts import SPARSE_RUNS
from governance.detection.explanation import explain
from governance.detection.findings import Finding, nothing
from governance.detection.statistics import poisson_tail
from governance.detection.tasks import TaskTable

NAME = "jumps"
HARD = 0.25
"""The quarter of the lineage's unsolved tasks that fewest other organisations solve."""
SLOPE = 1.0
"""Log-odds of a new solution for each unit of a task's log-odds over the others."""
FEWEST = 30


def judge(history: Rows, difficulty: npt.NDArray[np.float64], table: TaskTable) -> Finding:
    """`difficulty` is each task's log-odds of success over other organisations; the last of `history` is judged."""
    size = history.shape[1]
    if len(history) < 3 or int(history["runs"][-1][0]) < SPARSE_RUNS:
        return nothing(NAME, size)
    now, last, past = history[-1], history[-2], history[:-2]
    usable = (
        (now["activity"] == ACTIVE) & (last["activity"] == ACTIVE) & (past["activity"] == ACTIVE).all(axis=0)
    )
    never = usable & (past["successes"] == 0).all(axis=0)
    jumped = never & (last["successes"] == last["runs"]) & (now["successes"] == now["runs"])
    if never.sum() < FEWEST:
        return nothing(NAME, size)
    hard = never & (difficulty <= np.quantile(difficulty[never], HARD))
    easy = never & ~hard
    # The easier three quarters set the level, the slope carries it over to the hard quarter.
    weight = np.exp(SLOPE * difficulty)
    expected = float(weight[hard].sum() / max(1e-9, weight[easy].sum()) * (int((jumped & easy).sum()) + 0.5))
    judged = explain(jumped & hard, usable, table)
    if judged.explained:
        return nothing(NAME, size)
    count = int(judged.left.sum())
    return Finding(NAME, poisson_tail(count, expected), judged.left, count, judged.score)
