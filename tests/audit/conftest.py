"""Sequencers as real processes, each log with a folder of its own, and the log as an auditor reads it."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
import pytest

Connection = psycopg.Connection[Any]
PATIENCE = 30.0


def event_body(subject: str) -> str:
    """The least that the event table takes; not canonical, which only strict verifiers mind."""
    return (
        '{"actor":{"channel":"system","id":"test","kind":"system"},"data":{},"kind":"test.plain",'
        f'"nonce":"{"0" * 32}","outcome":"ok",'
        f'"schema":"event/1","subject":{{"id":"{subject}","type":"test"}},"time":"2026-11-01T00:00:00.000000Z",'
        '"version":1}'
    )


def add_events(connection: Connection, count: int, prefix: str = "e") -> None:
    """Append `count` events in one transaction, as any serving role can."""
    with connection.transaction(), connection.cursor() as cursor:
        bodies = [(event_body(f"{prefix}-{number}").encode(),) for number in range(count)]
        cursor.executemany("INSERT INTO audit_event (body) VALUES (%s)", bodies)


def place_only(sequencer: Connection, size: int) -> None:
    """What a sequencer has done when it is killed before it signs; `size` is that of the tree before."""
    from audit.sequencer import TAKE

    sequencer.execute(TAKE, {"above": 0, "most": 100, "size": size})


def figure(connection: Connection, query: str, *values: object) -> Any:
    """The one value that a query gives."""
    row = connection.execute(query, values).fetchone()
    assert row is not None
    return row[0]


def waiting(connection: Connection) -> int:
    return int(figure(connection, "SELECT count(*) FROM audit_pending"))


def signed_size(connection: Connection) -> int:
    return int(figure(connection, "SELECT coalesce(max(size), 0) FROM audit_checkpoint"))


def until(condition: Callable[[], object], seconds: float = PATIENCE) -> None:
    """Wait for a condition; fails after `seconds`."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not come to pass in time"
        time.sleep(0.02)


@dataclass
class Crew:
    """Starts `manage.py sequencer` processes; whatever still runs at the end of the test is killed."""

    processes: Any
    folder: Path
    started: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def environment(self, folder: Path | None = None) -> dict[str, str]:
        child = self.processes.sequencer()
        return {**child.environment, "LINGEE_SEQUENCER_DIR": str(folder or self.folder)}

    def start(self, *arguments: str, folder: Path | None = None) -> subprocess.Popen[bytes]:
        child = self.processes.sequencer()
        with (self.folder.parent / f"sequencer-{len(self.started)}.log").open("wb") as log:
            process = subprocess.Popen(
                [*child.command, *arguments],
                env=self.environment(folder),
                cwd=child.folder,
                stdout=log,
                stderr=log,
            )
        self.started.append(process)
        return process

    def said(self, process: subprocess.Popen[bytes]) -> str:
        return (self.folder.parent / f"sequencer-{self.started.index(process)}.log").read_text()

    def refused(self, *arguments: str, folder: Path | None = None) -> str:
        """What a sequencer says that ends with the code of a log that must not go on."""
        process = self.start(*arguments, folder=folder)
        assert process.wait(PATIENCE) == 3, self.said(process)
        return self.said(process)

    def end(self, process: subprocess.Popen[bytes]) -> None:
        process.terminate()
        assert process.wait(PATIENCE) == 0, self.said(process)

    def kill(self, process: subprocess.Popen[bytes]) -> None:
        process.kill()
        process.wait()


@pytest.fixture
def crew(processes: Any, tmp_path: Path) -> Iterator[Crew]:
    made = Crew(processes, tmp_path / "sequencer")
    yield made
    for process in made.started:
        if process.poll() is None:
            made.kill(process)
