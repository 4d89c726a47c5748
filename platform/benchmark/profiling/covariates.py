"""Profiles as numbers. Apart from the profile itself, which is loaded where no arrays are."""

from __future__ import annotations

from collections.abc import Sequence
from math import log

import numpy as np
import numpy.typing as npt

from benchmark.profiling.profile import Profile, baselines_of

Matrix = npt.NDArray[np.float64]


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
