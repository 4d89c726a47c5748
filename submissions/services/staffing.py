"""What evaluation engineers do about a submission: have what the platform lost of it run again now."""

from __future__ import annotations

import hashlib
from uuid import UUID

from django.db import transaction

from accounts.duties.queries import standing
from accounts.duties.refusals import DutyRefused, Reason
from accounts.duties.table import Duty
from audit import log
from audit.events import Actor
from audit.texts import concealed
from config import clock
from evaluation import services as evaluation
from evaluation.fleet.reports import failed_attempts
from evaluation.models import EvaluationRun
from submissions import staff_events as events
from submissions.models import Submission
from submissions.policies.states import rerun_pause
from submissions.problems import Code, refuse
from submissions.services.moves import locked

State = Submission.State
NAMED = 200
"""Attempts that the event names one by one; of more it has the number and the digest only."""


def rerunnable(submission: Submission) -> EvaluationRun | None:
    """The ended run of a submission under way that lacks results the platform owes; None where there is none."""
    run = {
        State.PREFLIGHT.value: submission.preflight_run,
        State.QUEUED.value: submission.canary_run,
        State.RUNNING.value: submission.held_out_run,
        State.GRADING.value: submission.held_out_run,
    }.get(submission.state)
    return run if run is not None and run.state == EvaluationRun.State.ENDED and run.missing else None


def rerun_failed(submission_id: UUID, *, reason: str, by: Actor) -> int:
    """Run again now, on the same versions, exactly the (task, run) pairs that failed technically; returns how many.

    Valid runs stay as they are. The event names the failed attempts by their opaque ids. Raises DutyRefused; Refused:
    nothing_to_rerun.
    """
    person = standing(by)
    if Duty.EVALUATION_ENGINEER not in person.duties:
        raise DutyRefused(Reason.NOT_ENTITLED)
    if not reason.strip():
        raise DutyRefused(Reason.NO_REASON)
    with transaction.atomic():
        submission = locked(submission_id)
        if submission.organisation.lineage_id in person.lineages:
            raise DutyRefused(Reason.OWN_CASE)
        run = rerunnable(submission)
        failed = failed_attempts(run) if run is not None else []
        count = evaluation.rerun_missing(run, by=by) if run is not None else 0
        if not count:
            raise refuse(Code.NOTHING_TO_RERUN, state=submission.state)
        submission.rerun_since = submission.rerun_since or clock.now()
        submission.rerun_count += 1
        submission.next_rerun_at = clock.now() + rerun_pause(submission.rerun_count)
        submission.save(update_fields=["rerun_since", "rerun_count", "next_rerun_at"])
        names = [key.hex for key in failed]
        event = events.RerunOrdered(
            subject=submission.id,
            run=str(run.id) if run else "",
            count=count,
            attempts=names if len(names) <= NAMED else None,
            digest=hashlib.sha256("".join(f"{name}\n" for name in names).encode()).hexdigest(),
            ordered_by=by.id,
            reason=concealed(reason.strip()),
        )
        log.append(event, by=by)
    return count
