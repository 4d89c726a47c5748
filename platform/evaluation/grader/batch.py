"""Grading many answers outside a sandbox: for sample answers, whose authors are the platform's own people.

What vendors' runs leave is never graded here; that is `__main__` in its sandbox.
"""

from __future__ import annotations

import json
import multiprocessing
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import TypeVar

from evaluation.grader.faults import ScriptFault
from evaluation.grader.scripts import run_script
from scoring import rules
from scoring.artefacts import MAX_REPLY_CHARS, Artefacts
from scoring.channel import RuleOutcome, grade
from scoring.model import RuleSet, Script

PROCESSES = 2
_CHUNK = 8

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


@dataclass(frozen=True)
class Job:
    """One answer to grade: the task's rules and scripts, the answer's files, its reply.

    `beneath` is the task's own workspace by path, over which the answer lies.
    """

    key: str
    rules_json: bytes
    workspace: Path
    reply: bytes | None = None
    scripts: Mapping[str, bytes] = field(default_factory=dict)
    beneath: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True)
class Graded:
    """The outcome of one job, or the technical fault that kept it from having one."""

    key: str
    outcome: RuleOutcome | None
    fault: str | None = None


def grade_many(jobs: Iterable[Job], *, processes: int = PROCESSES) -> list[Graded]:
    """Grade all jobs, in the order given, on so many processes."""
    return spread(grade_one, list(jobs), processes=processes)


def grade_one(job: Job) -> Graded:
    """Grade one job in this process."""
    try:
        ruleset = rules.load(json.loads(job.rules_json))
        return Graded(job.key, grade_answer(ruleset, job))
    except (ValueError, ScriptFault) as error:
        return Graded(job.key, None, str(error))


def grade_answer(ruleset: RuleSet, job: Job) -> RuleOutcome:
    """Grade one answer by rules already loaded; raises ScriptFault."""
    reply = None if job.reply is None else job.reply.decode("utf-8", "replace")[:MAX_REPLY_CHARS]
    artefacts = Artefacts(job.workspace, reply, job.beneath)
    has_script = any(isinstance(rule.check, Script) for rule in ruleset.rules)
    with tempfile.TemporaryDirectory(prefix="check-") if has_script else nullcontext("") as folder:
        return grade(ruleset, artefacts, lambda path: _run_script(job, path, Path(folder)))


def _run_script(job: Job, path: str, folder: Path) -> Decimal:
    """Lay answer and workspace out as the sandbox would, then run the script."""
    workspace = folder / "workspace"
    if not workspace.exists():
        _lay_out(workspace, job)
        (folder / "check.py").write_bytes(job.scripts[path])
        if job.reply is not None:
            (folder / "reply.md").write_bytes(job.reply)
    (folder / "check.py").write_bytes(job.scripts[path])
    return run_script(folder / "check.py", workspace, folder / "reply.md" if job.reply is not None else None)


def _lay_out(workspace: Path, job: Job) -> None:
    workspace.mkdir()
    own = {
        file.relative_to(job.workspace).as_posix(): file.read_bytes()
        for file in sorted(job.workspace.rglob("*"))
        if file.is_file()
    }
    for name, content in {**job.beneath, **own}.items():
        target = workspace / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)


def spread(work: Callable[[_Item], _Result], items: Sequence[_Item], *, processes: int) -> list[_Result]:
    """`work` over all items in their order; `work` must be a function of a module.

    New interpreters, not forks: the caller may hold database connections and threads.
    """
    if processes < 2 or len(items) < 2 * _CHUNK:
        return [work(item) for item in items]
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, mp_context=context) as pool:
        return list(pool.map(work, items, chunksize=_CHUNK))
