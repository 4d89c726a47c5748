"""Reads for staff and for the sweep: everybody's submissions that are not at an end."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import Q, Sum

from config import clock
from evaluation.models import Episode, EvaluationRun
from evaluation.queries import RunWork, work_of
from submissions.models import Submission, Upload
from submissions.policies.states import ENDS

OPEN_RUNS = (EvaluationRun.State.EXECUTING, EvaluationRun.State.GRADING)


@dataclass(frozen=True)
class StaffRow:
    """One submission under way, how long it has been in its state, and what its open run waits for."""

    submission: Submission
    age: timedelta
    work: RunWork | None


def running_for_staff() -> list[StaffRow]:
    """All submissions and preflights that are not at an end, oldest state first."""
    rows = list(
        Submission.of_any_scope.exclude(state__in=ENDS)
        .select_related(
            "organisation",
            "harness_version__harness",
            "task_set",
            "slot",
            "preflight_run",
            "canary_run",
            "held_out_run",
        )
        .order_by("state_since")
    )
    runs = {row.pk: run for row in rows if (run := _open_run(row))}
    work = {item.run.pk: item for item in work_of(list(runs.values()))}
    now = clock.now()
    return [
        StaffRow(row, now - row.state_since, work[runs[row.pk].pk] if row.pk in runs else None)
        for row in rows
    ]


def _open_run(submission: Submission) -> EvaluationRun | None:
    for run in (submission.held_out_run, submission.canary_run, submission.preflight_run):
        if run is not None and run.state in OPEN_RUNS:
            return run
    return None


def due_submissions() -> list[UUID]:
    """Those the sweep has to look at: not at an end, or at an end with a run that was not stopped yet."""
    open_run = (
        Q(preflight_run__state__in=OPEN_RUNS)
        | Q(canary_run__state__in=OPEN_RUNS)
        | Q(held_out_run__state__in=OPEN_RUNS)
    )
    rows = Submission.of_any_scope.filter(~Q(state__in=ENDS) | open_run).order_by("id")
    return list(rows.values_list("id", flat=True))


def budget_seconds(run: EvaluationRun) -> int:
    """Seconds that all episodes of a run may take together."""
    total = Episode.objects.filter(run=run).aggregate(seconds=Sum("task__budget_seconds"))["seconds"]
    return int(total or 0)


def due_uploads(now: datetime) -> list[UUID]:
    """Uploads whose bytes have to leave quarantine: expired, failed, aborted, or of a submission that is checked.

    A preflight that is not checked yet still needs them.
    """
    ended = (Upload.State.FAILED, Upload.State.ABORTED, Upload.State.EXPIRED)
    unchecked = (Submission.State.CREATED, Submission.State.CHECKING)
    unused = (Upload.State.OPEN, Upload.State.VERIFYING, Upload.State.COMPLETE)
    over = Q(expires_at__lte=now, state__in=unused) | Q(state=Upload.State.CONSUMED)
    rows = Upload.objects.filter(removed_at__isnull=True).filter(
        Q(state__in=ended) | (over & ~Q(submissions__state__in=unchecked))
    )
    return list(rows.order_by("id").values_list("id", flat=True))
