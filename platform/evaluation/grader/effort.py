"""What the grading of one run may cost in all, below the deadline and the memory of the sandbox.

The caps on single artefacts keep each of them cheap; this holds where many add up. Past it, what is left to check
fails, since the sandbox would only say that the grader failed, and an artefact's author must not choose that.
"""

from __future__ import annotations

import resource
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from scoring.artefacts import ArtefactError, Reason

PROCESSOR_SECONDS = 8.0
SCRIPT_SECONDS = 15.0
MEMORY_BYTES = 640 * 1024 * 1024
_AGAIN_SECONDS = 0.5


class Effort:
    """A context manager that may be entered for each check; raises ArtefactError inside once too much is spent."""

    def __init__(self, seconds: float = PROCESSOR_SECONDS) -> None:
        self._seconds = seconds
        self._over = self._inside = False
        self._scripts = SCRIPT_SECONDS

    def __enter__(self) -> None:
        if self._over:
            raise ArtefactError(Reason.TOO_LARGE)
        self._inside = True

    def __exit__(self, *_: object) -> None:
        self._inside = False

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Count this process's processor time from here on, and let allocations fail before the sandbox kills."""
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        room = MEMORY_BYTES if hard == resource.RLIM_INFINITY else min(MEMORY_BYTES, hard)
        resource.setrlimit(resource.RLIMIT_AS, (room, hard))
        before = signal.signal(signal.SIGPROF, self._on_signal)
        signal.setitimer(signal.ITIMER_PROF, self._seconds, _AGAIN_SECONDS)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.signal(signal.SIGPROF, before)

    @contextmanager
    def script(self, most: float) -> Iterator[float]:
        """The seconds one more script may take; raises ArtefactError where none are left."""
        if self._scripts <= 0:
            raise ArtefactError(Reason.TOO_LARGE)
        begun = time.monotonic()
        try:
            yield min(most, self._scripts)
        finally:
            self._scripts -= time.monotonic() - begun

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        # Outside of a check there is nothing that would take the error; the next check meets `_over`.
        self._over = True
        if self._inside:
            raise ArtefactError(Reason.TOO_LARGE)
