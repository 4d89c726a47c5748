"""One public task with one harness: prepare, start the command once per turn, grade what it left."""

from __future__ import annotations

import shutil
import tarfile
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

from benchmark.taskdir import Task, TaskDirError, read_task, read_taskset, task_dir, unpack
from client.exits import Exit
from client.local import box, containers
from client.local.ground import Ground
from client.local.models import Voice, speaking
from client.trouble import Trouble
from client.words import say
from evaluation.gateway.contract import Budget, Route
from evaluation.grader.faults import ScriptFailed
from evaluation.grader.scripts import run_script
from scoring.artefacts import Artefacts
from scoring.channel import grade
from submissions.intake import Manifest

FOLDERS = ("task/turns", "workspace", "home", "reply")
REPLY_BYTES = 1024 * 1024


@dataclass(frozen=True)
class Ran:
    """How one episode ended and how it was graded; `failed` names the rule items that were not met."""

    task: str
    domain: str
    ending: str
    exit_code: int | None
    seconds: float
    left_something: bool
    score: str
    success: bool
    failure_type: str
    failed: list[str]
    folder: str

    def shown(self) -> dict[str, Any]:
        return asdict(self)


def tasks_in(root: Path, only: str = "") -> list[Task]:
    """The tasks of a task-set folder, or the one named. Raises Trouble."""
    try:
        names = [entry.id for entry in read_taskset(root).tasks if only in ("", entry.id)]
        found = [read_task(task_dir(root, name)) for name in sorted(names)]
    except (TaskDirError, OSError) as error:
        raise _unusable(root, str(error)) from None
    if not found:
        raise _unusable(root, say("there is no such task"))
    return found


def _unusable(root: Path, what: str) -> Trouble:
    return Trouble(
        "tasks_unusable",
        say("{path} is no folder of tasks: {what}").format(path=root, what=what),
        hint=say(
            "In the checkout: `manage.py taskset generate --split dev --out FOLDER` makes practice tasks."
        ),
        exit=Exit.USAGE,
    )


def unpack_harness(bundle: Path, target: Path) -> Path:
    """The checked bundle as the platform mounts it."""
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    with tarfile.open(bundle, mode="r:gz") as archive:
        archive.extractall(target)  # noqa: S202 - every entry passed the rules of intake just before
    return target


def run_task(
    task: Task, ground: Ground, manifest: Manifest, place: Path, *, seed: int, routes: Mapping[str, Route]
) -> Ran:
    """Run and grade one task below `place`, which is emptied first and left for reading."""
    shutil.rmtree(place, ignore_errors=True)
    for name in FOLDERS:
        (place / name).mkdir(parents=True)
    (place / "task/instruction.md").write_bytes(task.instruction)
    given = unpack(task.workspace_file.read_bytes())
    for name, content in given.items():
        (place / "workspace" / name).parent.mkdir(parents=True, exist_ok=True)
        (place / "workspace" / name).write_bytes(content)
    budget = Budget(task.meta.budget.steps, task.meta.budget.tokens)
    with speaking(routes, budget, place / "models.jsonl") as voice:
        ending, code, seconds = _turns(task, ground, manifest, place, seed=seed, voice=voice)
    reply = _reply(place / "reply/reply.md")
    outcome = grade(
        task.ruleset,
        Artefacts(place / "workspace", reply),
        run_script=partial(_script, task, place, reply),
    )
    return Ran(
        task=task.meta.id,
        domain=task.meta.domain,
        ending=ending,
        exit_code=code,
        seconds=round(seconds, 2),
        left_something=reply is not None or _changed(place / "workspace", given),
        score=str(outcome.score.normalize()),
        success=outcome.success,
        failure_type=str(outcome.failure_type or ""),
        failed=list(outcome.failed),
        folder=str(place),
    )


def _turns(
    task: Task, ground: Ground, manifest: Manifest, place: Path, *, seed: int, voice: Voice
) -> tuple[str, int | None, float]:
    """Start the command once per turn, as long as there is time: (ending, exit code, seconds)."""
    budget = float(min(task.meta.budget.seconds, manifest.limit_seconds or task.meta.budget.seconds))
    turns, used, code = 1 + len(task.turns), 0.0, 0
    for turn in range(1, turns + 1):
        if turn > 1:
            (place / f"task/turns/turn_{turn}.md").write_bytes(task.turns[turn - 2])
        variables = {
            **ground.environment,
            **voice.variables,
            "PATH": box.PATH,
            "HOME": "/home/agent",
            "LANG": "C.UTF-8",
            "TZ": "UTC",
            "EPISODE_SEED": str(seed),
            "TURN": str(turn),
            "TURNS": str(turns),
            "REPLY_FILE": "/reply/reply.md",
            "BUDGET_SECONDS": str(int(budget)),
            "BUDGET_STEPS": str(task.meta.budget.steps),
            "BUDGET_TOKENS": str(task.meta.budget.tokens),
        }
        ended = _start(ground, place, variables, manifest.command, seconds=budget - used, voice=voice)
        used += ended.seconds
        if ended.code is None:
            return "budget_exhausted", None, used
        code = code or ended.code
    return ("crashed" if code else "finished"), code, used


def _start(
    ground: Ground,
    place: Path,
    variables: dict[str, str],
    command: tuple[str, ...],
    *,
    seconds: float,
    voice: Voice,
) -> box.Ended:
    log = place / "output.log"
    if ground.container is None:
        arguments = box.arguments(ground.harness, place, variables, command, ground.root)
        with voice.turn(arguments) as (started, handles):
            return box.run(started, seconds, log, handles)
    name = containers.new_name()
    try:
        return box.run(
            ground.container.arguments(ground.harness, place, variables, command, name), seconds, log
        )
    finally:
        ground.container.remove(name)


def _reply(path: Path) -> str | None:
    if path.is_symlink() or not path.is_file():
        return None
    with path.open("rb") as file:
        return file.read(REPLY_BYTES).decode("utf-8", "replace")


def _changed(workspace: Path, given: dict[str, bytes]) -> bool:
    """Whether the run made or changed a file."""
    for path in workspace.rglob("*"):
        if path.is_symlink() or not path.is_file():
            continue
        if given.get(path.relative_to(workspace).as_posix()) != path.read_bytes():
            return True
    return False


def _script(task: Task, place: Path, reply: str | None, name: str) -> Decimal:
    """The score that a task's own check script gives; 0 where the script says that the work is not usable."""
    folder = place / "check"
    folder.mkdir(exist_ok=True)
    script = folder / Path(name).name
    script.write_bytes(
        next(content for key, content in task.scripts.items() if Path(key).name == script.name)
    )
    try:
        return run_script(
            script, place / "workspace", place / "reply/reply.md" if reply is not None else None
        )
    except ScriptFailed:
        return Decimal(0)


def run_all(
    tasks: list[Task],
    ground: Ground,
    manifest: Manifest,
    place: Path,
    *,
    seed: int,
    report: Callable[[int, Ran], object],
    routes: Mapping[str, Route],
) -> list[Ran]:
    """Every task, one after another."""
    found = []
    for number, task in enumerate(tasks, start=1):
        found.append(run_task(task, ground, manifest, place / task.meta.id, seed=seed, routes=routes))
        report(number, found[-1])
    return found
