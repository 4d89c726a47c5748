"""What a vendor sees of a preflight: everything, for the tasks are public."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.conf import settings

from benchmark.models import PublicTask
from config import clock
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
    """not_started, or the run's state at the last tick: executing, ended or cancelled."""
    total: int
    done: int
    crashed: int
    missing: int
    runs: list[PreflightRun]


def preflight_report(submission: Submission) -> PreflightReport:
    """The preflight of `submission`, which the caller has read through `submission_of`, as of the last tick.

    A run in progress shows when its machine has time for it. Shown at once, one harness's preflight would tell how
    long another's held-out episodes take.
    """
    run = submission.preflight_run
    if run is None:
        return PreflightReport("not_started", 0, 0, 0, 0, [])
    seen_at = clock.last_tick(clock.now(), settings.PROGRESS_TICK_SECONDS)
    rows = PublicTaskResult.objects.filter(
        run=run, run__kind=EvaluationRun.Kind.PREFLIGHT, graded_at__lte=seen_at
    )
    results = list(rows.order_by("domain", "task_label", "run_index"))
    titles = {task.pk: task for task in PublicTask.objects.filter(version_id=run.version_id)}
    return PreflightReport(
        state=_state(run, seen_at),
        total=run.total,
        done=len(results),
        crashed=sum(row.ending == Ending.CRASHED and not row.has_output for row in results),
        missing=run.missing if _is_over(run, seen_at) else 0,
        runs=[_shown(row, titles.get(row.task_id)) for row in results],
    )


def _is_over(run: EvaluationRun, seen_at: datetime) -> bool:
    return run.ended_at is not None and run.ended_at <= seen_at


def _state(run: EvaluationRun, seen_at: datetime) -> str:
    """The run's state, but for what changed since the last tick."""
    if run.ended_at is None or _is_over(run, seen_at) or run.state == EvaluationRun.State.CANCELLED:
        return EvaluationRun.State.EXECUTING if run.state == EvaluationRun.State.GRADING else run.state
    return EvaluationRun.State.EXECUTING


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
