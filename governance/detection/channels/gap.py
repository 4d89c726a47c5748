"""Public tasks against held-out neighbours: a large gap is a signal of fitting to the public ones.

Each public task is compared with the held-out tasks of its domain, operation and tier, or of its domain and tier where
there are few.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from governance.detection.behaviour import Rows
from governance.detection.tasks import TaskTable

NAME = "gap"
NEIGHBOURS = 5
LEVEL = 3.2
"""Standard errors beyond what other organisations show."""
LEAST = 0.10
"""Points of success below which a gap is no signal however sure."""
FEWEST = 8
"""Organisations from which the usual gap is taken; before, none is assumed."""


class Matched:
    """The neighbourhood of every public task, computed once for a table."""

    def __init__(self, table: TaskTable) -> None:
        self.public = np.flatnonzero(table.public)
        self.held_out = np.flatnonzero(table.held_out)
        self._table = table

    @cached_property
    def weights(self) -> npt.NDArray[np.float64]:
        """A line for each public task, a column for each held-out one; lines sum to one."""
        table, held = self._table, self.held_out
        weights = np.zeros((len(self.public), len(held)))
        for row, task in enumerate(self.public):
            tier = (table.domains[held] == table.domains[task]) & (table.tiers[held] == table.tiers[task])
            close = tier & (table.operations[held] == table.operations[task])
            chosen = next(
                (found for found in (close, tier) if found.sum() >= NEIGHBOURS),
                table.domains[held] == table.domains[task],
            )
            weights[row, chosen] = 1 / max(1, chosen.sum())
        return weights

    def differences(self, rows: Rows) -> npt.NDArray[np.float64]:
        """Success on each public task less the mean success on its neighbours; not a number where it was not run."""
        success = rows["successes"] / np.maximum(1, rows["runs"])
        found = success[self.public] - self.weights @ success[self.held_out]
        return np.where(rows["runs"][self.public] > 0, found, np.nan)


Differences = npt.NDArray[np.float64]


def usual(lines: Sequence[Sequence[Differences]]) -> Differences:
    """Each public task's median over harness lines of their mean difference; 0 where there are few lines."""
    means = [_over(found, np.ma.mean) for found in lines]
    if len(means) < FEWEST:
        return np.zeros_like(means[0])
    return np.nan_to_num(_over(means, np.ma.median))


def _over(found: Sequence[Differences], how: Callable[..., Any]) -> Differences:
    """Over those that are numbers; not a number where none is."""
    return np.ma.filled(
        np.ma.asarray(how(np.ma.masked_invalid(np.stack(found)), axis=0), dtype=float), np.nan
    )


def z(differences: npt.NDArray[np.float64], usual: npt.NDArray[np.float64]) -> tuple[float, float]:
    """Mean gap beyond the usual one of each public task, and that in standard errors."""
    beyond = differences - usual
    beyond = beyond[np.isfinite(beyond)]
    if len(beyond) < 2:
        return 0.0, 0.0
    error = float(beyond.std(ddof=1)) / np.sqrt(len(beyond))
    mean = float(beyond.mean())
    return mean, mean / error if error > 0 else 0.0
