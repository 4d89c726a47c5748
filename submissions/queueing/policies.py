"""Coarse places and times from what was measured of earlier submissions. Pure: no database.

Workers are shared fairly among all that is under way, so a submission alone would take its time alone, and one among n
about n times that (processor sharing: Kleinrock, Queueing Systems, volume 2, 1976, section 4.4).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import median
from typing import Final

RENEWED_AFTER: Final = timedelta(hours=1)
"""Nothing that a vendor reads of the queue changes more often."""
FEWEST: Final = 3
"""Measured submissions below which no time is told."""

PLACES: Final[tuple[tuple[str, int], ...]] = (("1-3", 3), ("4-10", 10), ("11-30", 30))
"""Keys with the last place that each covers."""
FARTHEST: Final = "over_30"

TIMES: Final[tuple[tuple[str, timedelta], ...]] = (
    ("within_2_hours", timedelta(hours=2)),
    ("2_to_6_hours", timedelta(hours=6)),
    ("6_to_24_hours", timedelta(hours=24)),
    ("1_to_2_days", timedelta(days=2)),
    ("2_to_7_days", timedelta(days=7)),
)
"""Keys with the longest time that each covers, from the moment it was noted."""
LATEST: Final = "over_a_week"
UNKNOWN: Final = "unknown"
"""Too little was measured yet."""


@dataclass(frozen=True)
class Measured:
    """An earlier submission: when it was admitted, when it began and ended what is measured."""

    admitted: datetime
    begun: datetime
    ended: datetime


def place(ahead: int) -> str:
    """The place of who has `ahead` others before them."""
    return next((key for key, last in PLACES if ahead < last), FARTHEST)


def load(one: Measured, others: Sequence[Measured]) -> float:
    """How many submissions were under way on average while `one` was, itself included; `others` contains it."""
    length = (one.ended - one.admitted).total_seconds()
    if length <= 0:
        return 1.0
    shared = sum(
        max((min(one.ended, other.ended) - max(one.admitted, other.admitted)).total_seconds(), 0.0)
        for other in others
    )
    return max(shared / length, 1.0)


def expected(measured: Sequence[Measured], *, under_way: int, age: timedelta) -> tuple[str, str]:
    """When one of `under_way` submissions, admitted `age` ago, is expected to start and to end: keys of `TIMES`."""
    if len(measured) < FEWEST:
        return UNKNOWN, UNKNOWN
    loads = [load(one, measured) for one in measured]
    pairs = list(zip(measured, loads, strict=True))
    start = median((one.begun - one.admitted).total_seconds() / n for one, n in pairs)
    end = median((one.ended - one.admitted).total_seconds() / n for one, n in pairs)
    return _key(start * under_way, age), _key(end * under_way, age)


def _key(seconds: float, age: timedelta) -> str:
    left = timedelta(seconds=seconds) - age
    return next((key for key, longest in TIMES if left <= longest), LATEST)
