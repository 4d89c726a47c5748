"""Shared by the sandbox tests: one backend, and a short way to run a piece of code as a harness."""

from __future__ import annotations

import io
import tarfile
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from evaluation.sandbox import backends, runtime
from evaluation.sandbox.backend import KeptBackend
from evaluation.sandbox.spec import (
    MIB,
    GradeOutcome,
    GradeSpec,
    Kind,
    Limits,
    Outcome,
    RunSpec,
    SandboxUnavailable,
)

SMALL = Limits(
    seconds=10,
    memory_bytes=192 * MIB,
    pids=32,
    workspace_bytes=32 * MIB,
    file_bytes=16 * MIB,
    snapshot_bytes=24 * MIB,
)


def _make_tar(files: Mapping[str, bytes]) -> bytes:
    """A workspace archive of regular files."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()


def read_tar(path: Path) -> dict[str, bytes]:
    """Name → content of a snapshot."""
    with tarfile.open(path, errors="surrogateescape") as archive:
        return {entry.name: archive.extractfile(entry).read() for entry in archive}  # type: ignore[union-attr]


@dataclass(frozen=True)
class Bench:
    """Runs code as a harness would be run, and grades with a command of choice."""

    backend: KeptBackend
    tmp: Path

    def spec(self, code: str, **changes: Any) -> RunSpec:
        harness = self.tmp / "harness"
        harness.mkdir(exist_ok=True)
        (harness / "run.py").write_text(code)
        (harness / "run.py").chmod(0o644)
        harness.chmod(0o755)
        values: dict[str, Any] = {
            "opaque_id": "a",
            "command": ("python3", "/harness/run.py"),
            "harness_dir": harness,
            "instruction": "请核对。".encode(),
            "workspace_tar": _make_tar({"data.csv": b"a,b\n1,2\n", "dir/note.txt": b"note"}),
            "seed": 7,
            "budget_seconds": 10.0,
            "budget_steps": 40,
            "budget_tokens": 1000,
            "limits": SMALL,
        }
        return RunSpec(**(values | changes))

    def run(self, code: str, **changes: Any) -> Outcome:
        work = self.tmp / "work"
        work.mkdir(exist_ok=True)
        return self.backend.run_episode(self.spec(code, **changes), work)

    def grade(self, outcome: Outcome, *command: str, **changes: Any) -> GradeOutcome:
        assert outcome.snapshot is not None
        values: dict[str, Any] = {
            "rules_json": b"{}",
            "snapshot": outcome.snapshot,
            "reply": outcome.reply,
            "seconds": 10,
        }
        spec = GradeSpec(**(values | changes))
        return self.backend.run_grader(spec, command) if command else self.backend.run_grader(spec)


@pytest.fixture(scope="session")
def copies() -> runtime.Runtime:
    return runtime.ensure(runtime.default_base())


BOTH = [Kind.BUBBLEWRAP, pytest.param(Kind.GVISOR, marks=pytest.mark.slow)]
on_both = pytest.mark.parametrize("backend", BOTH, indirect=True)
"""For a test of either backend: bubblewrap always, gVisor with the slow ones."""


def made(kind: Kind, copies: runtime.Runtime) -> KeptBackend:
    """A backend; the test is skipped, with the reason, only where its tool cannot be had."""
    try:
        found = backends.make(kind, copies)
    except SandboxUnavailable as fault:
        pytest.skip(str(fault))
    assert isinstance(found, KeptBackend)
    return found


@pytest.fixture(scope="session")
def backend(request: pytest.FixtureRequest, copies: runtime.Runtime) -> Iterator[KeptBackend]:
    found = made(getattr(request, "param", backends.chosen()), copies)
    yield found
    found.close()


@pytest.fixture
def bench(backend: KeptBackend, tmp_path: Path) -> Bench:
    return Bench(backend, tmp_path)


@pytest.fixture
def open_dir() -> Iterator[Path]:
    """A folder every user may enter; pytest's own are closed to others."""
    with tempfile.TemporaryDirectory(prefix="open-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.fixture
def make_tar() -> Callable[[Mapping[str, bytes]], bytes]:
    return _make_tar


@pytest.fixture
def snapshot_of() -> Callable[[Outcome], dict[str, bytes]]:
    def read(outcome: Outcome) -> dict[str, bytes]:
        assert outcome.snapshot is not None
        return read_tar(outcome.snapshot)

    return read
