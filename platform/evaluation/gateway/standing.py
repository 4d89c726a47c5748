"""When the harness's clock stands: while it has calls in progress and all of them wait for the platform.

One call that a model is answering keeps the clock going, so nobody gains time by sending calls that will queue beside
it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from evaluation.gateway.contract import Clock


class Standing:
    """Counts the calls of one episode and tells the clock."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._calls = self._waiting = 0
        self._held = False

    def begin(self) -> None:
        """A call is in progress, and the harness waits for it."""
        self._change(calls=1)

    def end(self) -> None:
        """It has ended, or the harness no longer waits."""
        self._change(calls=-1)

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """The platform lets a call wait."""
        self._change(waiting=1)
        try:
            yield
        finally:
            self._change(waiting=-1)

    def _change(self, *, calls: int = 0, waiting: int = 0) -> None:
        with self._lock:
            self._calls += calls
            self._waiting += waiting
            stand = 0 < self._calls <= self._waiting
            if stand == self._held:
                return
            self._held = stand
            if stand:
                self._clock.hold()
            else:
                self._clock.release()
