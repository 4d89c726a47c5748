"""Submissions follow the upstreams that their harnesses call: they pause while one is left alone."""

from __future__ import annotations

from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Q

from audit.events import Actor, system
from config import clock
from evaluation.calls import queries as calls
from evaluation.calls.models import UpstreamStop
from evaluation.models import EvaluationRun
from submissions.models import Submission
from submissions.problems import Code
from submissions.services.moves import locked
from submissions.services.progress import pause, resume

FOLLOWER = "upstreams"
CODES = {UpstreamStop.Cause.DOWN: Code.UPSTREAM_DOWN, UpstreamStop.Cause.CEILING: Code.UPSTREAM_CEILING}
CAUSES = frozenset(CODES.values())
State = Submission.State


def follow_upstreams() -> None:
    """Pause what waits for an upstream now, and resume what waited for one that answers again.

    A preflight has no pause: nothing of it is claimed meanwhile, and its own deadline runs.
    """
    by = system(FOLLOWER)
    for submission_id in _waiting():
        _pause(submission_id, by)
    for submission_id in Submission.objects.filter(state=State.PAUSED).values_list("id", flat=True):
        _resume(submission_id, by)


def _waiting() -> list[UUID]:
    held_up = calls.runs_held_up()
    rows = Submission.objects.filter(
        Q(state=State.QUEUED, canary_run__in=held_up) | Q(state=State.RUNNING, held_out_run__in=held_up)
    )
    return list(rows.order_by("id").values_list("id", flat=True))


def _run_of(submission: Submission) -> EvaluationRun | None:
    state = submission.paused_from or submission.state
    return submission.canary_run if state == State.QUEUED else submission.held_out_run


def _stops(submission: Submission) -> list[UpstreamStop]:
    run = _run_of(submission)
    return [] if run is None else calls.stopped_upstreams(run)


def _pause(submission_id: UUID, by: Actor) -> None:
    with transaction.atomic():
        submission = locked(submission_id)
        if submission.state not in (State.QUEUED, State.RUNNING):
            return
        if stops := _stops(submission):
            first = stops[0]
            # On a tick, and without the name: a harness could choose which ceiling it reaches, and when.
            if clock.now() >= clock.next_tick(first.began_at, settings.PROGRESS_TICK_SECONDS):
                pause(submission_id, by=by, cause=CODES[UpstreamStop.Cause(first.cause)])


def _resume(submission_id: UUID, by: Actor) -> None:
    with transaction.atomic():
        submission = locked(submission_id)
        if submission.state != State.PAUSED or submission.reason_code not in CAUSES:
            return
        if not _stops(submission):
            resume(submission_id, by=by)
