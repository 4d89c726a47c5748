"""Working days, as deadlines of staff count them: Monday to Friday in UTC. Public holidays count as working days."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta

FRIDAY = 4
DAY = timedelta(days=1)


def is_working(at: datetime) -> bool:
    """Whether the instant lies on a working day."""
    return at.astimezone(UTC).weekday() <= FRIDAY


def after(start: datetime, days: int) -> datetime:
    """The instant `days` working days after `start`, at the same time of day in UTC.

    What begins on a weekend begins on Monday at 0:00. Raises ValueError for a negative number.
    """
    if days < 0:
        raise ValueError("a deadline lies ahead")
    at = start.astimezone(UTC)
    while not is_working(at):
        at = datetime.combine(at.date() + DAY, time(), UTC)
    for _ in range(days):
        at += DAY
        while not is_working(at):
            at += DAY
    return at
