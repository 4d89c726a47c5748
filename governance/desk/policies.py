"""How long a hold lasts, and which moves it has. Pure: no database."""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

WORKING_DAYS: Final = 10
"""Longest hold that nobody extended."""
MOST_WORKING_DAYS: Final = 20
"""Longest hold of all, counted from its beginning."""
SATURDAY: Final = 5
"""`datetime.weekday` of the first day that is no working day."""

HOLD_MOVES: Final[dict[str, tuple[str, ...]]] = {
    "active": ("extended", "lifted", "released", "voided"),
    "extended": ("lifted", "released", "voided"),
}
"""An extended hold is not extended again. What is in no row is at an end."""

OPEN: Final = frozenset(HOLD_MOVES)
LET_GO: Final = frozenset({"lifted", "released"})
"""Ends after which the result is released, on the next tick."""


class Why(StrEnum):
    """How a hold ended."""

    DEADLINE = "deadline"
    FALSE_ALARM = "false_alarm"
    REVIEWED = "reviewed"
    """A governor ended it early; the alarm stands, the result is shown."""
    TWO_PEOPLE = "two_people"
    RULING = "ruling"


def working_days_after(instant: datetime, days: int) -> datetime:
    """The same time of day so many working days later, in UTC.

    Saturdays and Sundays do not count. Public holidays do: no table of them is kept, so a hold over one is shorter
    for its reviewers, never longer for the vendor.
    """
    found = instant
    while days:
        found += timedelta(days=1)
        days -= found.weekday() < SATURDAY
    return found


def hold_due(placed: datetime) -> datetime:
    """When a hold ends by itself, unless it is extended."""
    return working_days_after(placed, WORKING_DAYS)


def hold_extended(placed: datetime) -> datetime:
    """When an extended hold ends by itself."""
    return working_days_after(placed, MOST_WORKING_DAYS)


def may_move_hold(state: str, to: str, *, until: datetime, now: datetime) -> bool:
    """Whether people may still make the move: the table lists it, and the deadline is ahead.

    At the deadline there is one way on, which nobody decides: the result is released.
    """
    return to in HOLD_MOVES.get(state, ()) and now < until
