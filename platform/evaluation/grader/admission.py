"""Admission of a task: its sample answers score as they must, and nothing hidden is mounted for the agent."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmark.taskdir import Task, TaskDirError, read_task, unpack
from evaluation.grader.batch import PROCESSES, Job, grade_answer, spread
from evaluation.grader.faults import ScriptFault
from evaluation.grader.leaks import find_leaks
from scoring.channel import RuleOutcome
from scoring.model import Delivered, Mode

SAMPLES = ("gold", "baseline", "adversarial")


@dataclass(frozen=True)
class AdmissionReport:
    """What stands against a task; each problem begins with the part of the task it is about."""

    task_id: str
    problems: tuple[str, ...]

    @property
    def passed(self) -> bool:
        """Whether the task may be frozen."""
        return not self.problems


def admit(task_dir: Path) -> AdmissionReport:
    """Check one task directory; never raises for what is wrong with the task."""
    try:
        task = read_task(task_dir)
        workspace = unpack(task.workspace_file.read_bytes())
        problems = tuple(_problems(task, workspace))
    except (TaskDirError, ScriptFault, OSError) as error:
        problems = (str(error),)
    return AdmissionReport(task_dir.name, problems)


def admit_many(task_dirs: Sequence[Path], *, processes: int = PROCESSES) -> list[AdmissionReport]:
    """Check all tasks, in the order given."""
    return spread(admit, task_dirs, processes=processes)


def _problems(task: Task, workspace: Mapping[str, bytes]) -> Iterator[str]:
    yield from find_leaks(task, workspace)
    answers = {name: _answer(task, name, workspace) for name in SAMPLES}
    for name, answer in answers.items():
        if answer is None:
            yield f"{name}: is empty"
    with tempfile.TemporaryDirectory(prefix="untouched-") as empty:
        untouched = grade_answer(task.ruleset, _job(task, Path(empty), None, workspace))
    if untouched.score != 0:
        yield f"environment: the untouched workspace scores {untouched.score}, not 0"
    graded = {name: grade_answer(task.ruleset, job) for name, job in answers.items() if job is not None}
    if "gold" in graded:
        yield from _check_gold(graded["gold"])
    if "baseline" in graded:
        yield from _check_baseline(task, graded["baseline"])
    if "adversarial" in graded:
        yield from _check_adversarial(task, graded["adversarial"])


def _job(task: Task, root: Path, reply: bytes | None, workspace: Mapping[str, bytes]) -> Job:
    return Job(task.meta.id, b"", root, reply, task.scripts, workspace)


def _answer(task: Task, name: str, workspace: Mapping[str, bytes]) -> Job | None:
    """The sample as a job; None where it holds no content at all."""
    folder = task.sample_dir(name)
    root, reply_file = folder / "workspace", folder / "reply.md"
    reply = reply_file.read_bytes() if reply_file.is_file() else None
    has_file = root.is_dir() and any(file.is_file() and file.stat().st_size for file in root.rglob("*"))
    if not has_file and not (reply or b"").strip():
        return None
    return _job(task, root, reply, workspace)


def _check_gold(outcome: RuleOutcome) -> Iterator[str]:
    if outcome.score != 1 or not outcome.success:
        yield f"gold: scores {outcome.score}, not 1; not met: {_reasons(outcome)}"


def _check_baseline(task: Task, outcome: RuleOutcome) -> Iterator[str]:
    delivery = {rule.id for rule in task.ruleset.threshold if isinstance(rule.check, Delivered)}
    if missing := delivery.intersection(outcome.threshold_failed):
        yield f"baseline: does not deliver ({', '.join(sorted(missing))}), so it is no plausible answer"
    if outcome.score != 0:
        yield f"baseline: scores {outcome.score}, not 0"


def _check_adversarial(task: Task, outcome: RuleOutcome) -> Iterator[str]:
    rule = task.samples.adversarial.rule
    zeroing = {named.id for named in task.ruleset.threshold + task.ruleset.fatal}
    if task.ruleset.mode is Mode.ALL_OR_NOTHING or rule in zeroing:
        if outcome.score != 0:
            yield f"adversarial: scores {outcome.score}, not 0"
        if outcome.failed != (rule,):
            yield f"adversarial: must fail {rule} and nothing else, fails {_reasons(outcome) or 'nothing'}"
        return
    if not 0 < outcome.score < 1:
        yield f"adversarial: scores {outcome.score}, not between 0 and 1; not met: {_reasons(outcome)}"
    if rule not in outcome.failed:
        yield f"adversarial: does not fail {rule}, the rule it names"


def _reasons(outcome: RuleOutcome) -> str:
    reasons = {item.id: item.reason.value for item in outcome.items}
    return ", ".join(f"{rule} ({reasons[rule]})" if rule in reasons else rule for rule in outcome.failed)
