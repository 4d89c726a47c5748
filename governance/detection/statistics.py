"""Tails, e-values and corrections that every channel shares; each is exact or cites what it bounds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy import stats

SMALLEST_P = 1e-12
LARGEST_E = 30.0
"""One contrast alone never counts for more, so that no alarm rests on one."""
HOLD_AT = 1000.0
"""Ville: a lineage that only does what chance does reaches this once in a thousand lives."""


def poisson_tail(count: int, expected: float) -> float:
    """P(N ≥ count) for a Poisson number of the given mean."""
    if count <= 0:
        return 1.0
    return max(SMALLEST_P, float(stats.poisson.sf(count - 1, expected)))


def binomial_tail(count: int, trials: int, chance: float) -> float:
    """P(N ≥ count) of so many trials."""
    if count <= 0:
        return 1.0
    return max(SMALLEST_P, float(stats.binom.sf(count - 1, trials, chance)))


def hypergeometric_tail(
    hits: npt.ArrayLike, drawn: int, marked: npt.ArrayLike, total: int
) -> npt.NDArray[np.float64]:
    """P(at least `hits` of `drawn` lie among `marked` of `total`), elementwise."""
    return np.asarray(stats.hypergeom.sf(np.asarray(hits) - 1, total, np.asarray(marked), drawn))


def all_fail(
    solved: npt.ArrayLike, seen: npt.ArrayLike, runs: int, prior: tuple[float, float]
) -> npt.NDArray[np.float64]:
    """P(none of `runs` more succeeds | `solved` of `seen` did), beta-binomial with the given prior.

    With posterior Beta(a, b): b(b+1)…(b+runs−1) / ((a+b)(a+b+1)…(a+b+runs−1)).
    """
    a = np.asarray(solved, dtype=float) + prior[0]
    b = np.asarray(seen, dtype=float) - np.asarray(solved, dtype=float) + prior[1]
    value = np.ones_like(a)
    for step in range(runs):
        value = value * (b + step) / (a + b + step)
    return value


def surprise(p: float) -> float:
    """−log10 p."""
    return -float(np.log10(max(SMALLEST_P, p)))


def e_value(p: float) -> float:
    """½·p^(−½), a calibrator (Vovk and Wang 2021), cut off at 30."""
    return min(LARGEST_E, 0.5 * max(SMALLEST_P, p) ** -0.5)


def benjamini_yekutieli(ps: Sequence[float]) -> list[float]:
    """Adjusted p-values that hold whatever the dependence between lineages."""
    if not ps:
        return []
    return [float(value) for value in stats.false_discovery_control(np.clip(ps, 0, 1), method="by")]


def robust_sd(values: npt.NDArray[np.floating]) -> float:
    """1.4826 times the median absolute deviation."""
    if not len(values):
        return 0.0
    return float(1.4826 * np.median(np.abs(values - np.median(values))))
