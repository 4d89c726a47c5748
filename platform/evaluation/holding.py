"""What one worker process holds, shared by the threads that work and those that watch over it."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum

from evaluation.claims import Claim
from evaluation.sandbox.control import Control


class Stop(StrEnum):
    """Why a worker lets go of what it holds."""

    LOST = "lost"
    """The claim is void, or will be before it can be renewed: another attempt may start at any moment."""
    HAND_BACK = "hand_back"
    """The worker leaves, or is not to be trusted: others go on at once, and no attempt is used up."""


class Hold:
    """One claim that is being worked on."""

    def __init__(self, claim: Claim, since: float | None = None) -> None:
        self.claim = claim
        self.stopped: Stop | None = None
        self.good_since = time.monotonic() if since is None else since
        """When the lease was last known to be extended, by this process's own clock."""
        self._lock = threading.Lock()
        self._control: Control | None = None

    def control(self, serve: Callable[[socket.socket], None] | None = None) -> Control:
        """A new handle for the next episode under this claim; what was stopped before is cancelled from the start."""
        control = Control(serve)
        with self._lock:
            self._control = control
            if self.stopped is not None:
                control.cancel()
        return control

    def stop(self, why: Stop) -> None:
        """Kill what runs under the claim; the first reason stays, but what is lost cannot be handed back."""
        with self._lock:
            if self.stopped is None or why is Stop.LOST:
                self.stopped = why
            if self._control is not None:
                self._control.cancel()


class Holding:
    """Everything that this process holds, and whether it is about to leave."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._holds: list[Hold] = []
        self.leaving_since: float | None = None
        """Set from a handler of signals, where no lock may be taken."""

    @property
    def leaving(self) -> bool:
        """Whether nothing more is to be claimed."""
        return self.leaving_since is not None

    def leave(self) -> None:
        """Claim nothing more; what is held may be finished for a while."""
        if self.leaving_since is None:
            self.leaving_since = time.monotonic()

    @contextmanager
    def hold(self, claim: Claim, since: float | None = None) -> Iterator[Hold]:
        """Watched over until the block ends. `since` is when the claim was asked for, by the monotonic clock."""
        hold = Hold(claim, since)
        with self._lock:
            self._holds.append(hold)
        try:
            yield hold
        finally:
            with self._lock:
                self._holds.remove(hold)

    def all(self) -> list[Hold]:
        """What is held just now."""
        with self._lock:
            return list(self._holds)
