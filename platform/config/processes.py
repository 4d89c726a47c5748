"""The processes of the site as children of a supervisor: one description for demo, `serve` and tests."""

from __future__ import annotations

import secrets
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from embedded.environment import role_environment
from embedded.supervisor import Child

ROOT = Path(__file__).resolve().parents[2]
#: Flags of every worker: nothing between workers, no broadcast queues, so nothing but tickets is in Redis.
QUIET = ("--without-gossip", "--without-mingle", "--without-heartbeat")


def _foreign(name: str) -> bool:
    """Whether a variable is about servers that the sequencer has no business with."""
    return name.startswith("S3_") or name == "REDIS_URL"


class Processes:
    """Builds children for one set of servers (`Services.connection()`), state folder and extra variables."""

    def __init__(
        self, connection: Mapping[str, Any], state_dir: Path, extra: Mapping[str, str] | None = None
    ) -> None:
        self._connection = connection
        self._state_dir = state_dir
        self._extra = dict(extra or {})

    def environment(self, role: str) -> dict[str, str]:
        """The environment of a process of this role."""
        found = role_environment(self._connection, role, self._state_dir)
        found.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.local")
        return {**found, "PYTHONPATH": f"{ROOT}:{ROOT / 'platform'}", **self._extra}

    def _child(self, name: str, role: str, arguments: Sequence[str], stop_seconds: float = 20.0) -> Child:
        command = [sys.executable, *arguments]
        return Child(name, command, self.environment(role), folder=ROOT, stop_seconds=stop_seconds)

    def web(self, bind: str, *, role: str = "web", name: str = "web") -> Child:
        """gunicorn on `bind` (host:port); also the staff console, by role."""
        configuration = str(ROOT / "deploy/gunicorn.conf.py")
        return self._child(name, role, ["-m", "gunicorn", "-c", configuration, "--bind", bind], 15.0)

    def worker(self, name: str, *, role: str, queues: Sequence[str]) -> Child:
        """A worker of the given queues that does one thing at a time."""
        arguments = [
            "-m",
            "celery",
            "-A",
            "config.celery",
            "worker",
            "--pool",
            "solo",
            "--loglevel",
            "WARNING",
        ]
        return self._child(
            name, role, [*arguments, *QUIET, "-n", f"{name}@local", "-Q", ",".join(queues)], 30.0
        )

    def beat(self) -> Child:
        """The scheduler."""
        pidless = ["--pidfile", "", "--schedule", str(self._state_dir / "beat-schedule")]
        return self._child(
            "beat",
            "web",
            ["-m", "celery", "-A", "config.celery", "beat", "--loglevel", "WARNING", *pidless],
        )

    def metrics(self, port: int, *, role: str = "console") -> Child:
        """The fleet's metrics on a loopback port of their own."""
        name = "metrics" if role == "console" else f"metrics-{role}"
        return self._child(name, role, [str(ROOT / "manage.py"), "metrics", "--port", str(port)], 5.0)

    def sequencer(self) -> Child:
        """The process that gives audit events their places; it is given the addresses and secrets it needs only."""
        child = self._child("sequencer", "sequencer", [str(ROOT / "manage.py"), "sequencer"], 10.0)
        environment = {name: value for name, value in child.environment.items() if not _foreign(name)}
        return replace(child, environment={**environment, "SECRET_KEY": secrets.token_urlsafe(32)})

    def command(self, *arguments: str, role: str) -> tuple[list[str], dict[str, str]]:
        """Arguments and environment for one `manage.py` command under a role, for subprocess.run."""
        return [sys.executable, str(ROOT / "manage.py"), *arguments], self.environment(role)
