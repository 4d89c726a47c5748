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
