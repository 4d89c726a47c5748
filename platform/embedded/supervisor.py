"""Named child processes that belong to one tool: started, restarted when they die, stopped with it.

Every child dies with the supervisor, however that ends, and writes into a log of its own.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any

from embedded.state import ensure_private

POLL = 0.1
FIRST_DELAY, LONGEST_DELAY = 0.5, 10.0  # seconds before a restart
SETTLED = 30.0  # seconds a child must have lived for its next restart to be quick again
LOG_LIMIT = 20 * 1024 * 1024  # bytes; a longer log is put aside at the next start
PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True)
class Child:
    """What to run; `stop_seconds` is how long it may take to end after SIGTERM."""

    name: str
    command: Sequence[str]
    environment: Mapping[str, str]
    folder: Path
    stop_seconds: float = 20.0


@dataclass
class _Running:
    child: Child
    process: subprocess.Popen[bytes]
    since: float
    deaths: int = 0
    due: float | None = None
    codes: list[int] = field(default_factory=list)


class Supervisor:
    """Use it as a context manager in the main thread, and call `wait` instead of `time.sleep`.

    Inside the block SIGTERM and SIGHUP raise SystemExit, so that whatever the tool is doing unwinds.
    """

    def __init__(self, log_dir: Path, *, heal: Callable[[], object] | None = None) -> None:
        self.log_dir = log_dir
        self._heal = heal
        self._running: dict[str, _Running] = {}
        self._handlers: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Supervisor:
        if threading.current_thread() is not threading.main_thread():
            raise RuntimeError(
                "supervise from the main thread: children die with the thread that starts them"
            )
        ensure_private(self.log_dir)
        for number in (signal.SIGTERM, signal.SIGHUP):
            self._handlers[number] = signal.signal(number, _unwind)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for (
            number
        ) in self._handlers:  # one request to stop is enough; a second must not cut the stopping short
            signal.signal(number, signal.SIG_IGN)
        try:
            self.stop()
        finally:
            for number, handler in self._handlers.items():
                signal.signal(number, handler)

    def start(self, child: Child) -> int:
        """Start a child and keep it running; returns its PID."""
        if child.name in self._running:
            raise ValueError(f"{child.name} is supervised already")
        process = self._spawn(child)
        self._running[child.name] = _Running(child, process, time.monotonic())
        return process.pid

    def pid(self, name: str) -> int:
        """The PID a child has now."""
        return self._running[name].process.pid

    def deaths(self, name: str) -> int:
        """How often a child has ended without being told to."""
        return len(self._running[name].codes)

    def poll(self) -> None:
        """Start again what has died, each after its delay."""
        if self._heal is not None:
            self._heal()
        now = time.monotonic()
        for entry in self._running.values():
            code = entry.process.poll()
            if code is None:
                continue
            if entry.due is None:
                self._note_death(entry, code, now)
            elif now >= entry.due:
                entry.process, entry.since, entry.due = self._spawn(entry.child), now, None

    def _note_death(self, entry: _Running, code: int, now: float) -> None:
        _kill_group(entry.process.pid)  # a dead master's workers
        entry.codes.append(code)
        entry.deaths = 1 if now - entry.since > SETTLED else entry.deaths + 1
        entry.due = now + min(FIRST_DELAY * 2 ** (entry.deaths - 1), LONGEST_DELAY)

    def wait(self, seconds: float, until: Callable[[], bool] = lambda: False) -> bool:
        """Sleep while looking after the children; True as soon as `until` holds, False after `seconds`."""
        deadline = time.monotonic() + seconds
        while True:
            self.poll()
            if until():
                return True
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            time.sleep(min(POLL, left))

    def run(self) -> None:
        """Look after the children until a signal ends the tool."""
        while True:
            self.wait(3600)

    def stop(self) -> None:
        """SIGTERM to all at once, then SIGKILL to the groups of those whose time is over."""
        started = time.monotonic()
        for entry in self._running.values():
            if entry.process.poll() is None:
                entry.process.send_signal(signal.SIGTERM)
        for entry in self._running.values():
            try:
                entry.process.wait(max(entry.child.stop_seconds - (time.monotonic() - started), 0.01))
            except subprocess.TimeoutExpired:
                entry.process.kill()
                entry.process.wait()
            _kill_group(entry.process.pid)
        self._running = {}

    def tail(self, name: str, lines: int = 20) -> str:
        """The end of a child's log."""
        path = self.log_dir / f"{name}.log"
        return "\n".join(path.read_text(errors="replace").splitlines()[-lines:]) if path.exists() else ""

    def _spawn(self, child: Child) -> subprocess.Popen[bytes]:
        path = self.log_dir / f"{child.name}.log"
        if path.exists() and path.stat().st_size > LOG_LIMIT:
            path.replace(path.with_suffix(".log.1"))
        parent = os.getpid()
        with path.open("ab") as log:
            return subprocess.Popen(
                list(child.command),
                cwd=child.folder,
                env=dict(child.environment),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                preexec_fn=lambda: _die_with(parent),  # noqa: PLW1509 - the supervisor has one thread
            )


def _die_with(parent: int) -> None:
    _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it died between fork and prctl
        os._exit(1)


def _kill_group(group: int) -> None:
    try:
        os.killpg(group, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return


def _unwind(number: int, _frame: FrameType | None) -> None:
    raise SystemExit(128 + number)
