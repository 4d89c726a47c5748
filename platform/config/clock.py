"""The one source of time. Everything that compares, stores or shows an instant asks here, so tests can move it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime, timedelta

_shift: ContextVar[timedelta] = ContextVar("clock_shift", default=timedelta(0))
_frozen: ContextVar[datetime | None] = ContextVar("clock_frozen", default=None)


def now() -> datetime:
    """The present instant, aware, in UTC, to the microsecond."""
    return _frozen.get() or datetime.now(UTC) + _shift.get()


def next_tick(after: datetime, seconds: int) -> datetime:
    """The first tick later than `after`: ticks are whole multiples of `seconds` since the Unix epoch.

    With 0 seconds there are no ticks, and `after` itself is returned.
    """
    if not seconds:
        return after
    return after.replace(microsecond=0) + timedelta(seconds=seconds - int(after.timestamp()) % seconds)


def last_tick(until: datetime, seconds: int) -> datetime:
    """The latest tick that is not later than `until`; `until` itself where there are no ticks."""
    if not seconds:
        return until
    return until.replace(microsecond=0) - timedelta(seconds=int(until.timestamp()) % seconds)


@contextmanager
def frozen(at: datetime) -> Iterator[None]:
    """Hold the clock at the aware instant `at` inside the block. For tests."""
    token = _frozen.set(at.astimezone(UTC))
    try:
        yield
    finally:
        _frozen.reset(token)


@contextmanager
def shifted(by: timedelta) -> Iterator[None]:
    """Move the clock by `by` inside the block; it keeps running. For tests."""
    token = _shift.set(_shift.get() + by)
    try:
        yield
    finally:
        _shift.reset(token)
