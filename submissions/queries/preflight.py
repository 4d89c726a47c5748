"""What a vendor sees of a preflight: everything, for the tasks are public."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from benchmark.models import PublicTask
from evaluation.models import Ending, EvaluationRun, PublicTaskResult
from submissions.models import Submission


@dataclass(frozen=True)
class PreflightRun:
    """One run of one public task. `seconds` of harness time, `score` in [0, 1]."""

    task: str
    domain: str
    title_zh: str
    title_en: str
    run_index: int
    ending: str
    exit_code: int | None
    has_output: bool
    score: Decimal
    success: bool
    failure_type: str
    seconds: float
    items: list[Any]
    stdout: str
    stderr: str
    reply: str


@dataclass(frozen=True)
class PreflightReport:
    """How a preflight stands. `total` runs are prescribed; `crashed` ended without artefact or reply."""

    state: str
    """not_started, or the run's state: executing, grading, ended or cancelled."""
    total: int
    done: int
    crashed: int
    missing: int
    runs: list[PreflightRun]


def preflight_report(submission: Submission) -> PreflightReport:
    """The preflight of `submission`, which the caller has read through `submission_of`."""
    run = submission.preflight_run
    if run is None:
        return PreflightReport("not_started", 0, 0, 0, 0, [])
    rows = PublicTaskResult.objects.filter(run=run, run__kind=EvaluationRun.Kind.PREFLIGHT)
    results = list(rows.order_by("domain", "task_label", "run_index"))
    titles = {task.pk: task for task in PublicTask.objects.filter(version_id=run.version_id)}
    return PreflightReport(
        state=run.state,
        total=run.total,
        done=len(results),
        crashed=sum(row.ending == Ending.CRASHED and not row.has_output for row in results),
        missing=run.missing,
        runs=[_shown(row, titles.get(row.task_id)) for row in results],
    )


def _shown(row: PublicTaskResult, task: PublicTask | None) -> PreflightRun:
    return PreflightRun(
        task=row.task_label,
        domain=row.domain,
        title_zh=task.title_zh if task else row.task_label,
        title_en=task.title_en if task else row.task_label,
        run_index=row.run_index,
        ending=row.ending,
        exit_code=row.exit_code,
        has_output=row.has_output,
        score=row.score,
        success=row.success,
        failure_type=row.failure_type,
        seconds=row.seconds,
        items=row.items,
        stdout=row.stdout,
        stderr=row.stderr,
        reply=row.reply,
    )
