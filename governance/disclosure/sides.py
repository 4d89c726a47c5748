"""Side figures: shares on a step that no single task shows on, magnitudes with two significant digits."""

from __future__ import annotations

import math
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction

SMALLEST_DOMAIN = 286
"""Tasks of an enterprise domain: one of them moves 0.35 points, which a step of one point hides."""
FEWEST_TASKS = 60
"""Below this many tasks a metric of one domain is pooled, or not shown per submission."""
STEPS = (1, 2, 5, 10)
DIGITS = 2


class TooFewTasks(ValueError):
    """The metric rests on too few tasks, or on one that weighs too much, to be shown on any step."""


def step_of(tasks: int, *, largest_share: Fraction | None = None) -> int:
    """Points of the step for a metric over so many tasks: at least 286/n, rounded up to 1, 2, 5 or 10.

    With weights it is 286 times the largest weight's share, rounded likewise. Raises TooFewTasks.
    """
    if tasks < FEWEST_TASKS:
        raise TooFewTasks(tasks)
    least = SMALLEST_DOMAIN * (largest_share or Fraction(1, tasks))
    for step in STEPS:
        if step >= least:
            return step
    raise TooFewTasks(tasks)


def share(value: Decimal, step: int) -> int:
    """A share of 0 to 1 as points on the step, half up. Raises ValueError outside that range."""
    if not 0 <= value <= 1:
        raise ValueError(f"not within 0 to 1: {value}")
    steps = (value * 100 / step).quantize(Decimal("1e-6"), rounding=ROUND_HALF_UP)
    return int(steps.quantize(Decimal(1), rounding=ROUND_HALF_UP)) * step


def levels_of_share(step: int) -> int:
    """How many values a share on the step can have."""
    return 100 // step + 1


def magnitude(value: Decimal) -> int:
    """A non-negative figure with two significant digits, half up: 1,849 is 1,800, and 3.4 is 3."""
    if not value.is_finite() or value < 0:
        raise ValueError(f"not a magnitude: {value}")
    whole = int(value.quantize(Decimal(1), rounding=ROUND_HALF_UP))
    if whole < 10**DIGITS:
        return whole
    unit = 10 ** (len(str(int(value))) - DIGITS)
    return int((value / unit).quantize(Decimal(1), rounding=ROUND_HALF_UP)) * unit


def levels_of_magnitude(most: int) -> int:
    """How many values `magnitude` has from 0 up to `most`: 100 below 100, then 90 a decade."""
    if most < 10**DIGITS:
        return most + 1
    decades = int(math.log10(most)) - DIGITS
    unit = 10 ** (len(str(most)) - DIGITS)
    return 10**DIGITS + 90 * decades + most // unit - 10 + 1
