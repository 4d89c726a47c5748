"""One trusted server as a foreground child in a small bubblewrap box that dies with whoever started it.

The box is there for three things: root becomes uid 70, which PostgreSQL insists on; a PID namespace takes
every descendant down at once; private /dev/shm and IPC leave nothing behind. No sandbox for foreign code.
"""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

#: The user a server believes to be when root starts it.
SERVER_UID = 70
#: Seconds between two looks at a process that is ending or coming up.
POLL = 0.01
SYSTEM_FOLDERS = ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/lib32", "/etc/ld.so.cache")


class ServiceError(RuntimeError):
    """A server could not be started or stopped; the text says what to look at."""


@dataclass(frozen=True)
class Launch:
    """What to run: `readable` and `writable` folders appear in the box under their own paths."""

    name: str
    command: Sequence[str]
    readable: Sequence[Path] = ()
    writable: Sequence[Path] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    inherited: Sequence[int] = ()


class Box:
    """A running server. Start it from the main thread: its life hangs on the thread that began it."""

    def __init__(self, launch: Launch, log: Path) -> None:
        self.name = launch.name
        self.log = log
        self._process, self.pid = _spawn(launch, log)

    @property
    def alive(self) -> bool:
        """Whether the server still runs."""
        return self._process.poll() is None

    @property
    def exit_code(self) -> int | None:
        """The exit code, or None while it runs."""
        return self._process.poll()

    def wait(self, seconds: float) -> bool:
        """Whether the server ended within `seconds`."""
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def stop(self, *steps: tuple[signal.Signals, float]) -> None:
        """Send each signal in turn and wait its seconds; what is left then is killed."""
        for number, seconds in steps:
            if not self.alive:
                return
            _send(self.pid, number)
            if self.wait(seconds):
                return
        self._process.kill()
        self._process.wait(10)

    def tail(self, lines: int = 12) -> str:
        """The end of the server's log, for error messages."""
        try:
            return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])
        except OSError:
            return ""


class Server:
    """What the three servers share: a box once launched, and the steps that stop it."""

    name: str
    stop_steps: tuple[tuple[signal.Signals, float], ...]

    def __init__(self, log: Path) -> None:
        self.log = log
        self._box: Box | None = None

    def launch(self, lock: int) -> None:
        """Begin to start; the server holds the descriptor `lock` as long as it lives."""
        raise NotImplementedError

    def ready(self, seconds: float = 60) -> None:
        """Wait until it serves; raises ServiceError."""
        raise NotImplementedError

    @property
    def alive(self) -> bool:
        """Whether the server process runs."""
        return self._box is not None and self._box.alive

    @property
    def pid(self) -> int | None:
        """Its PID as seen from outside its box."""
        return self._box.pid if self._box is not None and self._box.alive else None

    def tail(self) -> str:
        """The end of its log."""
        return self._box.tail() if self._box is not None else ""

    def stop(self) -> None:
        """Orderly stop, then kill; nothing where it does not run."""
        if self._box is not None:
            self._box.stop(*self.stop_steps)


def run_once(launch: Launch, log: Path, seconds: float) -> None:
    """Run a short command in a box; raises ServiceError unless it ends with 0 within `seconds`."""
    box = Box(launch, log)
    if not box.wait(seconds):
        box.stop()
        raise ServiceError(f"{launch.name} took longer than {seconds:.0f} s; see {log}")
    if box.exit_code:
        raise ServiceError(f"{launch.name} ended with {box.exit_code}:\n{box.tail()}")


def _send(pid: int, number: signal.Signals) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return


def _spawn(launch: Launch, log: Path) -> tuple[subprocess.Popen[bytes], int]:
    if threading.current_thread() is not threading.main_thread():
        raise ServiceError("start services from the main thread: they die with the thread that starts them")
    bubblewrap = shutil.which("bwrap")
    if bubblewrap is None:
        raise ServiceError("bubblewrap is missing: install it (Debian: apt-get install bubblewrap)")
    with log.open("ab") as output:
        passwd, info_read, info_write = _passwd_pipe(), *os.pipe()
        options = _options(launch, passwd, info_write)
        try:
            process = subprocess.Popen(
                [bubblewrap, *options, "--", *launch.command],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env={"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", **launch.environment},
                pass_fds=(passwd, info_write, *launch.inherited),
                start_new_session=True,
                umask=0o077,
            )
        finally:
            os.close(passwd)
            os.close(info_write)
    return process, _child_pid(launch, process, info_read, log)


def _options(launch: Launch, passwd: int, info: int) -> list[str]:
    options = ["--unshare-user", "--unshare-pid", "--unshare-ipc", "--die-with-parent", "--as-pid-1"]
    if os.geteuid() == 0:
        options += ["--uid", str(SERVER_UID), "--gid", str(SERVER_UID)]
    options += ["--info-fd", str(info), "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"]  # noqa: S108
    for system in SYSTEM_FOLDERS:
        options += ["--ro-bind-try", system, system]
    options += ["--ro-bind-data", str(passwd), "/etc/passwd"]
    for folder in _distinct(launch.readable):
        options += ["--ro-bind", str(folder), str(folder)]
    for folder in _distinct(launch.writable):
        options += ["--bind", str(folder), str(folder)]
    return [*options, "--chdir", "/"]


def _distinct(folders: Sequence[Path]) -> list[Path]:
    """Shortest paths first, so that an inner mount is not covered by an outer one."""
    return sorted({Path(folder) for folder in folders}, key=lambda folder: len(folder.parts))


def _passwd_pipe() -> int:
    """A pipe that holds the one line of /etc/passwd a server needs to know its own name."""
    uid, gid = (SERVER_UID, SERVER_UID) if os.geteuid() == 0 else (os.geteuid(), os.getegid())
    reader, writer = os.pipe()
    os.write(writer, f"server:x:{uid}:{gid}::/:/bin/false\n".encode())
    os.close(writer)
    return reader


def _child_pid(launch: Launch, process: subprocess.Popen[bytes], reader: int, log: Path) -> int:
    """The server's PID as seen from outside; raises ServiceError if the box did not come up."""
    text = b""
    deadline = time.monotonic() + 10
    with os.fdopen(reader, "rb", buffering=0) as file:
        while time.monotonic() < deadline:
            ready, _, _ = select.select([file], [], [], max(deadline - time.monotonic(), 0))
            chunk = file.read(4096) if ready else b""
            text += chunk
            try:
                return int(json.loads(text)["child-pid"])
            except ValueError:
                if not chunk:
                    break
    process.kill()
    process.wait()
    tail = "\n".join(log.read_text(errors="replace").splitlines()[-4:])
    raise ServiceError(f"{launch.name} could not be put into a bubblewrap box:\n{tail}")


def interpreter_folders() -> list[Path]:
    """Folders a box needs to run this interpreter with this environment's packages."""
    found = [Path(sys.prefix), Path(sys.base_prefix), Path(sys.executable).resolve().parents[1]]
    return [folder for folder in found if not folder.is_relative_to("/usr")]
