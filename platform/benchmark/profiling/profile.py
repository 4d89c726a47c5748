"""The difficulty profile of a task: what fixed baselines score on it, with what its author says of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import Final

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float64]

TIERS: Final[Mapping[str, int]] = {"basic": 1, "intermediate": 2, "hard": 3}
"""Difficulty as the author names it, in steps."""


@dataclass(frozen=True)
class Profile:
    """One task. `scores`: by baseline, the mean score in [0, 1] over its runs; every task has the same baselines."""

    key: str
    domain: str
    category: str
    operation: str
    tier: int
    turns: int
    seconds: int
    scores: Mapping[str, float]

    @property
    def stratum(self) -> tuple[str, str, str, int]:
        """Domain × scenario category × operation type × difficulty tier."""
        return self.domain, self.category, self.operation, self.tier


def baselines_of(profiles: Sequence[Profile]) -> list[str]:
    """The baselines that all of these were measured by. Raises ValueError where tasks differ in them."""
    found = {frozenset(profile.scores) for profile in profiles}
    if len(found) > 1:
        raise ValueError("tasks were profiled by different baselines")
    return sorted(next(iter(found), frozenset()))


def covariates(profiles: Sequence[Profile]) -> tuple[list[str], Matrix]:
    """Names and values (task × covariate): each baseline's mean score, tier, turns, log2 of the budget in seconds."""
    baselines = baselines_of(profiles)
    rows = [
        [*(profile.scores[name] for name in baselines), profile.tier, profile.turns, log(profile.seconds, 2)]
        for profile in profiles
    ]
    names = [*baselines, "tier", "turns", "budget"]
    return names, np.array(rows, dtype=np.float64).reshape(len(rows), len(names))


def spreads(values: Matrix) -> Matrix:
    """Standard deviation of each column, 1 for one that is constant."""
    found: Matrix = values.std(axis=0)
    return np.where(found > 0, found, 1.0)
