"""Half widths of the generalisation interval shown beside a value (governance, release policy, "interval").

They depend on the shown value and the version alone, so they tell nothing the value did not.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

_CONFIDENCE = 0.975
# Below any point that matters, above what floating point leaves behind: 9.000000000000002 is 9, not 10.
_SLACK = 1e-9


def half_width(p: int, family_sizes: Sequence[int], rho: float) -> int:
    """h(p) = max(1, ⌈100·t(0.975, F−1)·√(p(1−p)·(ρ·Σ(m_f/N)² + (1−ρ)/N))⌉), in points.

    p: shown value, 0 to 100 (a share of 100 in the formula). family_sizes: m_f, tasks of each of the F
    families, N in all. rho: correlation of tasks within a family. Raises ValueError outside these ranges and
    for fewer than two families, from which no interval can be made.
    """
    if not 0 <= p <= 100:
        raise ValueError(f"not within 0 to 100 points: {p}")
    share = p / 100
    spread = (
        100 * _t_quantile(len(family_sizes)) * math.sqrt(share * (1 - share) * _design(family_sizes, rho))
    )
    return max(1, math.ceil(spread - _SLACK))


def table(family_sizes: Sequence[int], rho: float) -> list[int]:
    """`half_width` for every shown value from 0 to 100."""
    return [half_width(p, family_sizes, rho) for p in range(101)]


def macro_half_width(widths: Sequence[int]) -> int:
    """max(1, ⌈√(Σ h²) / n⌉): the half width of the mean of n independent domains, in whole numbers."""
    if not widths:
        raise ValueError("a mean needs at least one value")
    squares, count = sum(width * width for width in widths), len(widths)
    width = math.isqrt(squares) // count
    while (count * width) ** 2 < squares:
        width += 1
    return max(1, width)


def _design(family_sizes: Sequence[int], rho: float) -> float:
    """Variance factor of a mean over N tasks that hang together within families."""
    if any(size < 1 for size in family_sizes) or not 0 <= rho <= 1:
        raise ValueError("family sizes must be positive and rho within 0 to 1")
    total = sum(family_sizes)
    return rho * sum((size / total) ** 2 for size in family_sizes) + (1 - rho) / total


def _t_quantile(families: int) -> float:
    """t(0.975) with F − 1 degrees of freedom."""
    if families < 2:
        raise ValueError("an interval needs at least two families")
    from scipy.special import stdtrit

    return float(stdtrit(families - 1, _CONFIDENCE))
