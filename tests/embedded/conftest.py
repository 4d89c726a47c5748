"""Keepers started as a user would start them, each with a state folder of its own."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from embedded.services import EXTERNAL, current_holder
from tests.servers import ROOT


def clean_environment() -> dict[str, str]:
    """This environment without addresses of other servers."""
    return {
        **{name: value for name, value in os.environ.items() if name not in EXTERNAL.values()},
        "PYTHONPATH": f"{ROOT}:{ROOT / 'platform'}",
    }


@dataclass
class Keeper:
    """`python -m embedded start` on one state folder."""

    folder: Path
    process: subprocess.Popen[str] | None = None

    def start(self) -> Keeper:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "embedded", "start", "--state-dir", str(self.folder)],
            env=clean_environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line.startswith("services running"), line + self.process.stdout.read()
        return self

    def ask(self, action: str, *more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "embedded", action, "--state-dir", str(self.folder), *more],
            env=clean_environment(),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def status(self) -> dict[str, Any]:
        return json.loads(self.ask("status", "--json").stdout)

    @property
    def connection(self) -> dict[str, Any]:
        return json.loads((self.folder / "connection.json").read_text())

    def kill(self) -> None:
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(10)

    def processes(self) -> list[str]:
        """Command lines of living processes that mention the state folder."""
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                words = (folder / "cmdline").read_bytes().split(b"\0")
                state = (folder / "stat").read_text().rpartition(")")[2].split()[0]
            except OSError:
                continue
            line = b" ".join(words).decode(errors="replace")
            if str(self.folder) in line and state != "Z" and int(folder.name) != os.getpid():
                found.append(line)
        return found

    def gone_within(self, seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        while self.processes():
            if time.monotonic() > deadline:
                return False
            time.sleep(0.05)
        return True


@pytest.fixture
def make_keeper() -> Iterator[Callable[..., Keeper]]:
    """`make_keeper()` or `make_keeper(path)`: a keeper that is not started yet."""
    made: list[Keeper] = []

    def make(folder: Path | None = None) -> Keeper:
        made.append(Keeper(folder or Path(tempfile.mkdtemp(prefix="lge-")) / "state"))
        return made[-1]

    yield make
    for keeper in made:
        if keeper.process is not None and keeper.process.poll() is None:
            keeper.process.terminate()
            keeper.process.wait(40)
        assert current_holder(keeper.folder) is None
        if keeper.folder.parent.name.startswith("lge-"):
            shutil.rmtree(keeper.folder.parent, ignore_errors=True)
