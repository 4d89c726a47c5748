"""One start of a harness in bubblewrap: the paths and variables of an episode, no network.

It stands on the host's own root, or on an unpacked one (see `ground`).

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
from evaluation.images import places

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
        raise no_sandbox()
    return found


def no_sandbox() -> Trouble:
    """Nothing here can hold a harness."""
    return Trouble(
        "no_sandbox",
        say("Neither bubblewrap with prlimit nor a container engine is installed; nothing is run without."),
        hint=say("On Debian and Ubuntu: apt-get install bubblewrap util-linux. Elsewhere: Docker or Podman."),
        exit=Exit.USAGE,
    )


def arguments(
    harness: Path | None,
    place: Path,
    variables: Mapping[str, str],
    command: Sequence[str],
    root: Path | None = None,
) -> list[str]:
    """The whole command: `place` holds task, workspace, home and reply of one episode.

    `root` is a tree with every mount point in it; its own /harness is seen where no `harness` is given.
    """
    found = [bubblewrap(), "--unshare-all", "--die-with-parent", "--new-session"]
    found += _hosts_root() if root is None else _own_root(root, place)
    found += ["--proc", "/proc", "--dev", "/dev"]
    found += ["--tmpfs", "/tmp", "--bind", str(place / "home"), "/home/agent"]  # noqa: S108 - inside the sandbox
    if harness is not None:
        found += ["--ro-bind", str(harness), "/harness"]
    found += [
        "--ro-bind",
        str(place / "task"),
        "/task",
        "--bind",
        str(place / "workspace"),
        "/workspace",
        "--bind",
        str(place / "reply"),
        "/reply",
    ]
    found += ["--hostname", "sandbox", "--clearenv"]
    for name, value in variables.items():
        found += ["--setenv", name, value]
    found += ["--chdir", "/workspace", "--"]
    if root is None or (root / PRLIMIT.lstrip("/")).is_file():
        return [*found, *_limited(LIMITS), *command]
    # The image has no such tool: set from outside, where the number of processes would count all of this user's.
    outside = {name: value for name, value in LIMITS.items() if name != "nproc"}
    return [*_limited(outside), *found, *command]


def _limited(limits: Mapping[str, int]) -> list[str]:
    return [PRLIMIT, *(f"--{name}={value}" for name, value in limits.items()), "--"]


def _hosts_root() -> list[str]:
    found = ["--ro-bind", "/usr", "/usr"]
    for name in LINKS:
        if (Path("/") / name).exists():
            found += ["--symlink", f"usr/{name}", f"/{name}"]
    return [*found, "--ro-bind-try", "/etc/alternatives", "/etc/alternatives"]


def _own_root(root: Path, place: Path) -> list[str]:
    """The tree, and the files of /etc that are the platform's in every episode."""
    found = ["--ro-bind", str(root), "/"]
    (place / "etc").mkdir(exist_ok=True)
    for name, text in places.ETC.items():
        (place / "etc" / name).write_text(text, encoding="utf-8")
        found += ["--ro-bind", str(place / "etc" / name), f"/etc/{name}"]
    return found


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
