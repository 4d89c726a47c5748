"""The display grid: whole points from 0 to 100, rounded half up, by this one function everywhere."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal

# Item means carry nine places; six places of a point undo that, so that a true 45.5 never shows as 45.
_TRUE = Decimal("1e-6")


def half_up(points: Decimal) -> int:
    """Points on the grid; raises ValueError outside 0 to 100."""
    if not points.is_finite() or not 0 <= points <= 100:
        raise ValueError(f"not within 0 to 100 points: {points}")
    settled = points.quantize(_TRUE, rounding=ROUND_HALF_UP)
    return int(settled.quantize(Decimal(1), rounding=ROUND_HALF_UP))


def macro(values: Sequence[int]) -> int:
    """The mean of shown domain values, rounded the same way; raises ValueError for none."""
    if not values:
        raise ValueError("a mean needs at least one value")
    return half_up(Decimal(sum(values)) / len(values))
