"""What a worker can do to an episode while it runs, from any of its threads, and the listener it gets in there."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable

HOLD, RELEASE = b"h", b"r"
PORT = 8080
"""Of the listener inside: on 127.0.0.1, the same in every episode."""
BACKLOG = 64
HELD_SECONDS = 6 * 3600.0
"""The longest that the clock of one episode may stand, all holds together."""


class EpisodeCancelled(Exception):
    """The worker itself ended the episode; by the time this is raised no process of it is left."""


class Control:
    """One episode's handle; make one for each call of `run_episode`.

    `serve` is given the episode's listening stream socket before its first command starts, and owns it from then on.
    It is called in the thread of `run_episode` and has to return at once. Without it there is no listener.
    """

    def __init__(self, serve: Callable[[socket.socket], None] | None = None) -> None:
        self.serve = serve
        self._lock = threading.Lock()
        self._peer: socket.socket | None = None
        self._cancelled = False
        self._holds = 0
        self._held_since = 0.0
        self._held = 0.0

    @property
    def cancelled(self) -> bool:
        """Whether somebody asked for its end."""
        return self._cancelled

    def cancel(self) -> None:
        """Kill the episode at once, whenever this comes; doing it again changes nothing."""
        with self._lock:
            self._cancelled = True
            if self._peer is not None:
                with contextlib.suppress(OSError):
                    self._peer.shutdown(socket.SHUT_RDWR)

    def hold(self) -> None:
        """Stop the harness's clock and the harness with it; where its processes cannot be frozen, the clock goes on.

        Holds of several threads add up, and each is released once.
        """
        with self._lock:
            self._holds += 1
            if self._holds == 1:
                self._held_since = time.monotonic()
                self._tell(HOLD)

    def release(self) -> None:
        """End one hold; the clock goes on with the last."""
        with self._lock:
            if self._holds == 0:
                raise ValueError("nothing is held")
            self._holds -= 1
            if self._holds == 0:
                self._held += time.monotonic() - self._held_since
                self._tell(RELEASE)

    def held(self) -> float:
        """Seconds for which the clock has stood so far, at most `HELD_SECONDS`."""
        with self._lock:
            now = time.monotonic() - self._held_since if self._holds else 0.0
            return min(self._held + now, HELD_SECONDS)

    def attach(self, peer: socket.socket) -> None:
        """The backend's part: from now on `peer` leads to the episode's process."""
        with self._lock:
            self._peer = peer
            if self._holds:
                self._tell(HOLD)
            if self._cancelled:
                with contextlib.suppress(OSError):
                    peer.shutdown(socket.SHUT_RDWR)

    def detach(self) -> None:
        """The backend's part: the episode is over."""
        with self._lock:
            self._peer = None

    def _tell(self, word: bytes) -> None:
        """A byte to the episode's process; one that is gone needs no clock."""
        if self._peer is not None:
            with contextlib.suppress(OSError):
                self._peer.sendall(word)
