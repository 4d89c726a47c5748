"""The site on a machine of its own: services started, database migrated, task bank in place, processes running."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from config.processes import ROOT, Processes
from embedded.services import Services
from embedded.supervisor import Supervisor

TICKS = {
    "LINGEE_TICK_SECONDS": "5",
    "LINGEE_PROGRESS_TICK_SECONDS": "5",
    "LINGEE_LOG_PUBLIC_TICK_SECONDS": "5",
}
"""The demo policy: sweeps, progress, releases and the public view of the log every five seconds."""
EXECUTE_WORKERS = 2
READY_SECONDS = 60.0
Say = Callable[[str], None]


def free_port() -> int:
    """A port on loopback that nobody listens on at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class StageError(RuntimeError):
    """A step of setting up failed; the message holds the end of what it said."""


@dataclass
class Stage:
    """A running site. `port` serves vendors, `console_port` staff, both on loopback."""

    state: Path
    processes: Processes
    supervisor: Supervisor
    say: Say
    port: int = field(default_factory=free_port)
    console_port: int = field(default_factory=free_port)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def console_address(self) -> str:
        return f"http://127.0.0.1:{self.console_port}"

    def manage(self, role: str, *arguments: str) -> str:
        """Run one management command under a database role; returns its output. Raises StageError."""
        command, environment = self.processes.command(*arguments, role=role)
        done = subprocess.run(command, env=environment, cwd=ROOT, text=True, capture_output=True, check=False)
        if done.returncode:
            tail = "\n".join((done.stdout + done.stderr).strip().splitlines()[-15:])
            raise StageError(f"manage.py {' '.join(arguments[:2])} failed:\n{tail}")
        return done.stdout

    def ask(self, role: str, *arguments: str) -> dict[str, Any]:
        """The JSON that a management command prints last."""
        found: dict[str, Any] = json.loads(self.manage(role, *arguments).strip().splitlines()[-1])
        return found

    def prepare(self, version: str, *, size: str, seed: int) -> None:
        """Migrate, and put the task bank in place where it is not there yet."""
        self.say("database")
        self.manage("owner", "migrate", "--no-input")
        if self.ask("sealed", "taskset", "status", version).get("open"):
            return
        bank = self.state / f"bank-{version}"
        shutil.rmtree(bank, ignore_errors=True)
        self.say("task bank: generate")
        arguments = ("--version", version, "--seed", str(seed), "--size", size, "--out", str(bank))
        self.manage("sealed", "taskset", "generate", *arguments)
        self.say("task bank: admit and import")
        self.manage("sealed", "taskset", "import", str(bank))
        self.say("task bank: freeze")
        self.manage("sealed", "taskset", "freeze", version)
        self.manage("sealed", "taskset", "open", version, "--profile", "demo")
        shutil.rmtree(bank)

    def start(self, *, console: bool) -> None:
        """Start web, workers and scheduler, and wait until the site answers."""
        shutil.rmtree(self.state / "work", ignore_errors=True)
        made = self.processes
        for number in range(1, EXECUTE_WORKERS + 1):
            name = f"execute-{number}"
            self.supervisor.start(made.worker(name, role="execute", queues=["execute"]))
        self.supervisor.start(made.worker("grade-1", role="sealed", queues=["grade"]))
        self.supervisor.start(made.worker("office-1", role="sealed", queues=["governance"]))
        self.supervisor.start(made.worker("post-1", role="web", queues=["web"]))
        self.supervisor.start(made.beat())
        self.supervisor.start(made.sequencer())
        self.supervisor.start(made.web(f"127.0.0.1:{self.port}"))
        if console:
            address = f"127.0.0.1:{self.console_port}"
            self.supervisor.start(made.web(address, role="console", name="console"))
        self.await_answer("web", self.address)

    def await_answer(self, name: str, address: str) -> None:
        """Wait until a web process serves; raises StageError with the end of its log."""

        def answers() -> bool:
            try:
                return httpx.get(f"{address}/api/v1/health", timeout=2).status_code == httpx.codes.OK
            except httpx.TransportError:
                return False

        if not self.supervisor.wait(READY_SECONDS, answers):
            raise StageError(f"{name} does not answer:\n{self.supervisor.tail(name)}")


@contextmanager
def stage(state: Path, what: str, say: Say, extra: Mapping[str, str] | None = None) -> Iterator[Stage]:
    """Services up for the length of the block; whatever was started inside ends with it."""
    started = time.monotonic()
    with Services(state, what=what) as services, Supervisor(state / "log", heal=services.heal) as supervisor:
        say(f"services ({time.monotonic() - started:.1f} s)")
        yield Stage(
            state=state,
            processes=Processes(services.connection(), state, {**TICKS, **(extra or {})}),
            supervisor=supervisor,
            say=say,
        )
