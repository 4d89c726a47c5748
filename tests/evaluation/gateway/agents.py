"""Real harnesses in the real sandbox, on a public task, against a scripted upstream behind the gateway.

What they need from package registries is fetched once and kept in the platform's state directory.
"""

from __future__ import annotations

import base64
import fcntl
import hashlib
import json
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmark.synthetic import generate
from benchmark.taskdir import Task, read_task, read_taskset, task_dir
from evaluation.gateway.contract import Budget, Dialect, Route, Rules, variables
from evaluation.gateway.gateway import Gateway
from evaluation.sandbox import runtime
from evaluation.sandbox.bubblewrap import Backend
from evaluation.sandbox.control import Control
from evaluation.sandbox.spec import GradeSpec, Limits, Outcome, RunSpec
from tests.evaluation.gateway.parts import KEY, Lines, OpenGate, There, route
from tests.evaluation.gateway.scripted import Answer, Upstream


def installed(name: str, files: Mapping[str, str], *commands: Sequence[str]) -> Path:
    """A harness folder: `files`, and what `commands` put there ("{}" is the folder). Made once for what it holds."""
    content = json.dumps([files, [list(command) for command in commands]]).encode()
    base = runtime.default_base().parent / "agents"
    base.mkdir(parents=True, exist_ok=True)
    target = base / f"{name}-{hashlib.sha256(content).hexdigest()[:16]}"
    with (base / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not target.exists():
            making = Path(tempfile.mkdtemp(dir=base))
            for command in commands:
                filled = [part.replace("{}", str(making)) for part in command]
                subprocess.run(filled, check=True, timeout=220, capture_output=True, cwd=making)
            for path, text in files.items():
                (making / path).parent.mkdir(parents=True, exist_ok=True)
                (making / path).write_text(text)
            subprocess.run(["chmod", "-R", "a+rX", making], check=True)
            making.rename(target)
    return target


def pip(*packages: str) -> tuple[str, ...]:
    """Installs into `lib` of the folder, for the interpreter that the sandbox has a copy of."""
    options = ("--quiet", "--disable-pip-version-check", "--target", "{}/lib")
    return (sys.executable, "-m", "pip", "install", *options, *packages)


def public_task(folder: Path) -> Task:
    """A public task with one turn, a file as its deliverable, and its answer."""
    generate(folder / "bank", version="2026.1-mini", seed=3, size="mini")
    for entry in read_taskset(folder / "bank").tasks:
        task = read_task(task_dir(folder / "bank", entry.id))
        if entry.group == "public" and not task.turns and any(_gold(task).iterdir()):
            return task
    raise AssertionError("the bank has no such task")


def _gold(task: Task) -> Path:
    return task.path / "tests/gold/gold/workspace"


def answering(task: Task) -> str:
    """A shell command that leaves the task's answer, as a model would have it run."""
    parts = ["set -e"]
    for path in sorted(_gold(task).rglob("*")):
        if path.is_file():
            content = base64.b64encode(path.read_bytes()).decode()
            name = path.relative_to(_gold(task)).as_posix()
            parts.append(f"mkdir -p \"$(dirname '{name}')\"; echo {content} | base64 -d > '{name}'")
    reply = base64.b64encode((task.path / "tests/gold/gold/reply.md").read_bytes()).decode()
    return "; ".join([*parts, f'echo {reply} | base64 -d > "$REPLY_FILE"', "echo written"])


@dataclass
class Ran:
    """What was left of one episode, seen from outside."""

    outcome: Outcome
    gateway: Gateway
    lines: Lines
    asked: list[dict[str, Any]]
    score: str
    """Of the real grader, "" where it gave none."""

    @property
    def output(self) -> str:
        return (self.outcome.stdout + self.outcome.stderr).decode("utf-8", "replace")


def run(
    task: Task,
    folder: Path,
    harness: Path,
    command: Sequence[str],
    dialect: Dialect,
    answers: Sequence[Answer],
    *,
    seconds: float = 150.0,
    base: str = "",
) -> Ran:
    """One episode of `task`; the upstream answers by script, or is the one at `base`."""
    upstream, lines, control = Upstream(*answers), Lines(), Control()
    routes: dict[str, Route] = {"main": route(dialect, base or upstream.base)}
    gateway = Gateway(
        routes,
        KEY,
        Budget(task.meta.budget.steps, task.meta.budget.tokens),
        ledger=lines,
        gate=OpenGate(),
        clock=control,
        rules=Rules(),
        reach=There,
    )

    def serve(listener: socket.socket) -> None:
        gateway.serve(listener)

    control.serve = serve
    work = folder / "work"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    backend = Backend(runtime.ensure(runtime.default_base()))
    try:
        spec = RunSpec(
            opaque_id="a",
            command=tuple(command),
            harness_dir=harness,
            instruction=task.instruction,
            workspace_tar=task.workspace_file,
            seed=7,
            budget_seconds=seconds,
            budget_steps=task.meta.budget.steps,
            budget_tokens=task.meta.budget.tokens,
            limits=Limits(seconds=seconds),
            variables=variables("http://127.0.0.1:8080", KEY, routes),
        )
        outcome = backend.run_episode(spec, work, control)
        gateway.close(grace=5)
        score = _graded(backend, task, outcome)
    finally:
        gateway.close()
        upstream.close()
        backend.close()
    return Ran(outcome, gateway, lines, [asked.body for asked in upstream.asked], score)


def _graded(backend: Backend, task: Task, outcome: Outcome) -> str:
    assert outcome.snapshot is not None
    graded = backend.run_grader(
        GradeSpec(
            rules_json=task.rules_json, snapshot=outcome.snapshot, reply=outcome.reply, scripts=task.scripts
        )
    )
    return str(json.loads(graded.reward)["score"]) if graded.reward else ""
