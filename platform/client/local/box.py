"""One start of a harness in bubblewrap on the host's own root: the paths and variables of an episode, no network.

It is not the platform's sandbox: limits bound single processes (`prlimit`), and the disk as a whole is not limited.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from client.exits import Exit
from client.trouble import Trouble
from client.words import say

PATH = "/usr/local/bin:/usr/bin:/bin"
LINKS = ("bin", "sbin", "lib", "lib64")
PRLIMIT = "/usr/bin/prlimit"
LIMITS = {
    "data": 1024
    ** 3,  # bytes of writable memory; address space would stop runtimes that reserve much and use little
    "nproc": 128,  # of the user, and without effect for root
    "fsize": 128 * 1024**2,  # bytes of one file
    "nofile": 1024,
    "core": 0,
}
"""Those of the contract, by the names that `prlimit` gives them."""
KEPT_BYTES = 1024 * 1024
"""How much of each output is kept, as the platform does."""


@dataclass(frozen=True)
class Ended:
    """`code` is None where time was up. Seconds of the wall."""

    code: int | None
    seconds: float
    output: bytes


def bubblewrap() -> str:
    """Where bwrap is. Raises Trouble, also where limits cannot be set."""
    found = shutil.which("bwrap")
    if found is None or not Path(PRLIMIT).exists():
        raise Trouble(
            "no_sandbox",
            say("bubblewrap or prlimit is not installed, and nothing is run without a sandbox and limits."),
            hint=say("On Debian and Ubuntu: apt-get install bubblewrap util-linux. It needs Linux."),
            exit=Exit.USAGE,
        )
    return found


def arguments(harness: Path, place: Path, variables: Mapping[str, str], command: Sequence[str]) -> list[str]:
    """The whole command: `place` holds task, workspace, home and reply of one episode."""
    found = [bubblewrap(), "--unshare-all", "--die-with-parent", "--new-session", "--ro-bind", "/usr", "/usr"]
    for name in LINKS:
        if (Path("/") / name).exists():
            found += ["--symlink", f"usr/{name}", f"/{name}"]
    found += ["--ro-bind-try", "/etc/alternatives", "/etc/alternatives", "--proc", "/proc", "--dev", "/dev"]
    found += ["--tmpfs", "/tmp", "--bind", str(place / "home"), "/home/agent"]  # noqa: S108 - inside the sandbox
    found += ["--ro-bind", str(harness), "/harness", "--ro-bind", str(place / "task"), "/task"]
    found += ["--bind", str(place / "workspace"), "/workspace", "--bind", str(place / "reply"), "/reply"]
    found += ["--hostname", "sandbox", "--clearenv"]
    for name, value in variables.items():
        found += ["--setenv", name, value]
    limited = [PRLIMIT, *(f"--{name}={value}" for name, value in LIMITS.items()), "--"]
    return [*found, "--chdir", "/workspace", "--", *limited, *command]


def run(command: Sequence[str], seconds: float, log: Path, handles: tuple[int, ...] = ()) -> Ended:
    """Run it for at most `seconds`; whatever it started is gone afterwards. Output goes to `log`; it gets `handles`."""
    begun = time.monotonic()
    with log.open("ab+") as file:
        process = subprocess.Popen(
            list(command),
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
            start_new_session=True,
            pass_fds=handles,
        )
        try:
            code: int | None = process.wait(timeout=max(seconds, 0.1))
        except subprocess.TimeoutExpired:
            code = None
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        file.seek(0)
        return Ended(code, time.monotonic() - begun, file.read(KEPT_BYTES))
