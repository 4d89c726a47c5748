"""Noting where a submission stands in the queue: with its admission, then on a tick and at most once an hour."""

from __future__ import annotations

from django.db.models import Q

from config import clock
from submissions.models import Submission
from submissions.queueing.models import QueueStanding
from submissions.queueing.policies import RENEWED_AFTER, Measured, expected, place

State = Submission.State
AHEAD = (State.CREATED, State.CHECKING, State.PREFLIGHT, State.QUEUED, State.RUNNING)
"""States in which something of a submission still waits for workers that execute."""
MEASURED = 20
"""How many of the latest submissions of a kind times are measured by."""


def note(submission: Submission) -> None:
    """Note place and expected times of a submission under way, from whole submissions and runs, never from tasks."""
    now = clock.now()
    waiting = Submission.of_any_scope.filter(state__in=AHEAD)
    ahead = waiting.filter(admitted_at__lt=submission.admitted_at).exclude(pk=submission.pk).count()
    under_way = waiting.exclude(pk=submission.pk).count() + 1
    starts, ends = expected(_measured(submission), under_way=under_way, age=now - submission.admitted_at)
    facts = {"place": place(ahead), "starts": starts, "ends": ends, "noted_at": now}
    QueueStanding.objects.update_or_create(submission=submission, defaults=facts)


def renew_due() -> None:
    """Note again what was noted an hour ago, and what never was."""
    due = Q(standing=None) | Q(standing__noted_at__lte=clock.now() - RENEWED_AFTER)
    for submission in Submission.of_any_scope.filter(due, state__in=AHEAD).order_by("id"):
        note(submission)


def _measured(submission: Submission) -> list[Measured]:
    """The latest of the same kind on the same version that were executed to the end."""
    run = "preflight_run" if submission.is_preflight else "held_out_run"
    rows = Submission.of_any_scope.filter(
        **{f"{run}__executed_at__isnull": False}, scope=submission.scope, task_set=submission.task_set_id
    )
    found = rows.order_by("-id").values_list("admitted_at", f"{run}__created_at", f"{run}__executed_at")[
        :MEASURED
    ]
    return [Measured(*row) for row in found]
