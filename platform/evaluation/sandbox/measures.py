"""What is measured of an episode while it runs: its output, capped, and the harness's time."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from evaluation.sandbox.control import HELD_SECONDS, HOLD


@dataclass(slots=True)
class Output:
    """A capped copy of one stream; the rest is read and dropped."""

    limit: int
    kept: bytearray = field(default_factory=bytearray)
    truncated: bool = False

    def add(self, chunk: bytes) -> None:
        room = self.limit - len(self.kept)
        self.kept += chunk[:room]
        self.truncated = self.truncated or len(chunk) > room


@dataclass(frozen=True, slots=True)
class Streams:
    """Standard output and standard error of an episode, all turns together."""

    out: Output
    err: Output


@dataclass(slots=True)
class Clock:
    """Harness time of one episode: it stands while the worker holds it (see `control`). Seconds, monotonic."""

    stood: float = 0.0
    since: float | None = None

    def hear(self, words: bytes) -> None:
        """Take the worker's words to hold and release, in their order."""
        for word in words:
            if word == HOLD[0]:
                self.since = self.since or time.monotonic()
            elif self.since is not None:
                self.stood += time.monotonic() - self.since
                self.since = None

    def stands(self, now: float) -> float:
        """How long it has stood up to `now`, bounded."""
        return min(self.stood + (now - self.since if self.since is not None else 0.0), HELD_SECONDS)
