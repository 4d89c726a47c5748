"""Docker or Podman in place of bubblewrap: the same mounts, variables and limits, no network.

Flags as in the references of `docker run` (Docker 28) and `podman run` (Podman 4); both take every one used here.
"""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from client.exits import Exit
from client.trouble import Trouble
from client.words import say

ENGINES = ("podman", "docker")
LOAD_SECONDS, REMOVE_SECONDS = 900.0, 30.0
_numbers = itertools.count(1)


@dataclass(frozen=True)
class Container:
    """An image that an engine holds. `engine` is docker or podman."""

    engine: str
    image: str

    def arguments(
        self,
        harness: Path | None,
        place: Path,
        variables: Mapping[str, str],
        command: Sequence[str],
        name: str,
    ) -> list[str]:
        """The whole command. Without a `harness` folder the image's own /harness is there."""
        found = [
            self.engine,
            "run",
            "--rm",
            f"--name={name}",
            "--pull=never",
            "--network=none",
            "--read-only",
        ]
        found += [
            "--cap-drop=ALL",
            "--security-opt=no-new-privileges",
            "--no-healthcheck",
            "--hostname=sandbox",
        ]
        found += [f"--user={os.getuid()}:{os.getgid()}", "--workdir=/workspace"]
        if self.engine == "podman" and os.getuid():
            found.append("--userns=keep-id")
        found += ["--memory=1g", "--memory-swap=1g", "--pids-limit=128", "--cpus=1", "--shm-size=64m"]
        found += ["--ulimit=nofile=1024:1024", f"--ulimit=fsize={1 << 27}:{1 << 27}", "--ulimit=core=0:0"]
        # Counts all processes of this user; what bounds the harness is --pids-limit.
        found.append("--ulimit=nproc=4096:4096")
        found.append("--tmpfs=/tmp:rw,size=128m,mode=1777")
        mounts = {"task": "/task:ro", "workspace": "/workspace", "reply": "/reply", "home": "/home/agent"}
        found += [f"--volume={place.resolve() / source}:{target}" for source, target in mounts.items()]
        if harness is not None:
            found.append(f"--volume={harness.resolve()}:/harness:ro")
        found += [f"--env={key}={value}" for key, value in variables.items()]
        return [*found, f"--entrypoint={command[0]}", self.image, *command[1:]]

    def remove(self, name: str) -> None:
        """Kill and remove the container of a start, if it is still there."""
        _call([self.engine, "rm", "--force", name], REMOVE_SECONDS)


def new_name() -> str:
    """A name for one start."""
    return f"lgbench-{os.getpid()}-{next(_numbers)}"


def find(engine: str = "") -> str:
    """The engine named, or the first that is installed; empty where there is none."""
    return next((name for name in ENGINES if name.startswith(engine) and shutil.which(name)), "")


def load(engine: str, archive: Path) -> Container:
    """Hand an image archive to the engine. Raises Trouble."""
    said = _call([engine, "load", "--input", str(archive)], LOAD_SECONDS)
    lines = [line for line in said.splitlines() if line.startswith("Loaded image")]
    if not lines:
        raise _failed(engine, said)
    return Container(engine, lines[-1].partition(": ")[2].strip())


def import_root(engine: str, tar: Path) -> Container:
    """Make an image of a root tar. Raises Trouble."""
    said = _call([engine, "import", str(tar), "lgbench-root:latest"], LOAD_SECONDS)
    if not said.strip():
        raise _failed(engine, said)
    return Container(engine, said.split()[-1])


def _call(command: list[str], seconds: float) -> str:
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=seconds, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _failed(command[0], type(error).__name__) from None
    if done.returncode and "rm" not in command:
        raise _failed(command[0], done.stderr)
    return done.stdout


def _failed(engine: str, said: str) -> Trouble:
    last = (said.strip().splitlines() or [""])[-1][:200]
    return Trouble(
        "container_failed",
        say("{engine} could not be used: {said}").format(engine=engine, said=last),
        hint=say("Look whether it runs, with `docker info` or `podman info`; or install bubblewrap."),
        exit=Exit.USAGE,
    )
