"""How far a shown value could move if tasks under revision were left out. Pure, and made of what everybody sees.

From the shown value, the number of tasks of the domain and the number under revision alone: that some of those tasks
were solved and others not is never asked, so it says nothing of any of them (docs/held-out-governance.md).
"""

from __future__ import annotations

from fractions import Fraction

HALF = Fraction(1, 2)


def reach(value: int, *, under_revision: int, tasks: int) -> int:
    """The most points by which the value, 0 to 100, could differ without `under_revision` of its `tasks`.

    The score behind a shown value lies within half a point of it; those left out scored anything from 0 to 1.
    """
    out = min(under_revision, tasks - 1)
    if out <= 0 or tasks <= 0:
        return 0
    low = max(Fraction(0), (value - HALF) / 100) * tasks
    high = min(Fraction(1), (value + HALF) / 100) * tasks
    left = tasks - out
    least = max(Fraction(0), low - out) / left
    most = min(Fraction(left), high) / left
    return max(value - _points(least), _points(most) - value, 0)


def _points(score: Fraction) -> int:
    """Half up, as the release function rounds."""
    return int(score * 100 + HALF)
