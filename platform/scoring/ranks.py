"""Rank ranges of a board, from shown values and half widths alone, so that they tell nothing that those do not.

Source: scoring design, uncertainty: from 1 + the number demonstrably better to N − the number demonstrably worse, with
Holm's correction over all pairs of the board (Holm 1979, Scandinavian Journal of Statistics 6).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

LEVEL = 0.05
NORMAL_975 = 1.959964
"""A half width is at least so many standard errors, Student's quantile being larger: h over it is never too small."""


@dataclass(frozen=True)
class Shown:
    """A value with its half width, both in points of 100; h is at least 1."""

    value: int
    h: int


@dataclass(frozen=True)
class RankRange:
    """The best and the worst place, 1 to `of`, that a value may have."""

    best: int
    worst: int
    of: int

    @property
    def tells_nothing(self) -> bool:
        """Whether nobody is demonstrably better or worse."""
        return (self.best, self.worst) == (1, self.of)


def rank_ranges(board: Sequence[Shown]) -> list[RankRange]:
    """One range for each value, in their order. Equal values never differ; the order of the board does not matter.

    Raises ValueError for a half width below 1.
    """
    if any(row.h < 1 for row in board):
        raise ValueError("a half width is at least one point")
    better, worse = [0] * len(board), [0] * len(board)
    for one, other in _demonstrated(board):
        high, low = (one, other) if board[one].value > board[other].value else (other, one)
        worse[high] += 1
        better[low] += 1
    return [RankRange(1 + better[row], len(board) - worse[row], len(board)) for row in range(len(board))]


def p_of(one: Shown, other: Shown) -> float:
    """Two-sided p of no difference, the two taken as independent."""
    error = math.hypot(one.h, other.h) / NORMAL_975
    return math.erfc(abs(one.value - other.value) / error / math.sqrt(2))


def _demonstrated(board: Sequence[Shown]) -> list[tuple[int, int]]:
    """Pairs that differ by Holm's procedure: the smallest p against LEVEL / m, the next against LEVEL / (m − 1) …"""
    pairs = sorted(combinations(range(len(board)), 2), key=lambda pair: p_of(board[pair[0]], board[pair[1]]))
    for place, (one, other) in enumerate(pairs):
        if p_of(board[one], board[other]) > LEVEL / (len(pairs) - place):
            return pairs[:place]
    return pairs
