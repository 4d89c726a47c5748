"""The growing ladder: a value is shown only where it beats the best one by more than chance explains."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction


def threshold(answers: int, *, paired_error: float, grid_points: int = 1) -> float:
    """Points by which the next value must beat the best shown one: max(step, √(2 ln k)·SE_paired).

    answers: k, values of this domain that the lineage was shown or refused, this one included. paired_error: SE of
    the paired difference, in points. Raises ValueError for k < 1.
    """
    if answers < 1:
        raise ValueError("there is at least this answer")
    return max(float(grid_points), math.sqrt(2 * math.log(answers)) * paired_error)


def is_shown(
    value: int, best: int | None, *, answers: int, paired_error: float, grid_points: int = 1
) -> bool:
    """Whether a value on the grid is shown after `best`; the first one always is."""
    if best is None:
        return True
    return value - best >= threshold(answers, paired_error=paired_error, grid_points=grid_points)


def paired_error(differences: Sequence[Fraction]) -> float:
    """SE, in points, of the mean of the tasks' score differences (−1 to 1) between two submissions; 0 below two."""
    count = len(differences)
    if count < 2:
        return 0.0
    mean = sum(differences, Fraction(0)) / count
    spread = sum(((one - mean) ** 2 for one in differences), Fraction(0)) / (count - 1)
    return 100 * math.sqrt(spread / count)
