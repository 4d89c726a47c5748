"""A worker's handles on its keeper process and on what one episode has running."""

from __future__ import annotations

import os
import select
import signal
import socket
import subprocess
import sys
import weakref
from dataclasses import dataclass
from pathlib import Path

from evaluation.sandbox.box import KILL_SECONDS
from evaluation.sandbox.spec import KeeperLost, Kind, SandboxUnavailable

_HELLO_SECONDS = 20.0
_BOOT = (
    "import sys; sys.path.insert(0, sys.argv[2]); "
    "from evaluation.sandbox.keeper import main; main(int(sys.argv[1]))"
)

# A forked child must not hold a keeper's socket open: the keeper lives as long as its worker, no longer.
_controls: weakref.WeakSet[socket.socket] = weakref.WeakSet()


def _close_controls() -> None:
    for control in _controls:
        control.close()


os.register_at_fork(after_in_child=_close_controls)


class Watched:
    """Process descriptors of one episode: its process, and PID 1 of each of its sandboxes."""

    def __init__(self) -> None:
        self._fds: list[int] = []

    def __enter__(self) -> Watched:
        return self

    def __exit__(self, *_: object) -> None:
        for fd in self._fds:
            os.close(fd)

    def add(self, pid: int) -> None:
        try:
            self._fds.append(os.pidfd_open(pid))
        except ProcessLookupError:
            return

    def kill(self) -> None:
        """Kill them and wait until they are gone, so that a retry starts beside nothing."""
        for fd in self._fds:
            try:
                signal.pidfd_send_signal(fd, signal.SIGKILL)
            except ProcessLookupError:
                continue
        for fd in self._fds:
            select.select([fd], [], [], KILL_SECONDS)


@dataclass(slots=True)
class Keeper:
    """The worker's handle on its keeper process."""

    process: subprocess.Popen[bytes]
    control: socket.socket
    owner: int
    label: str

    @classmethod
    def start(cls, kind: Kind, tool: str, program: bytes) -> Keeper:
        """Start a keeper with an empty environment. Raises SandboxUnavailable when it does not answer."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        root = str(Path(__file__).resolve().parents[2])
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _BOOT, str(theirs.fileno()), root],
            env={},
            cwd="/",
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
        )
        theirs.close()
        ours.settimeout(_HELLO_SECONDS)
        try:
            body = kind.value.encode() + b"\0" + os.fsencode(tool) + b"\0" + program
            ours.send(str(len(body)).encode() + b"\n" + body)
            label = ours.recv(1 << 12)
        except OSError:
            label = b""
        if not label:
            process.kill()
            process.wait()
            ours.close()
            raise SandboxUnavailable("the keeper process did not start")
        _controls.add(ours)
        return cls(process, ours, os.getpid(), label.decode())

    def usable(self) -> bool:
        """False in a forked child (the keeper is its parent's) and after the keeper's end."""
        return self.owner == os.getpid() and self.process.poll() is None

    def hand_over(self, sock: socket.socket) -> None:
        """Give the keeper one episode's socket; raises KeeperLost when it is gone."""
        try:
            socket.send_fds(self.control, [b"e"], [sock.fileno()])
        except OSError as fault:
            raise KeeperLost("the keeper process is gone") from fault

    def close(self) -> None:
        """Close its socket, which ends it, and wait."""
        self.control.close()
        if self.owner == os.getpid():
            try:
                self.process.wait(_HELLO_SECONDS)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
