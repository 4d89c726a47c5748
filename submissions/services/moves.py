"""The one function that moves a submission, with what the move costs."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

from audit import log
from audit.events import Actor
from config import clock
from submissions import events
from submissions.models import Submission, SubmissionTransition
from submissions.policies.states import ENDS, SlotEffect, may_move, slot_effect
from submissions.problems import Code, refuse
from submissions.services import slots, telling
from submissions.webhooks import services as webhooks


def locked(submission_id: UUID) -> Submission:
    """The submission or preflight under a row lock; call inside a transaction. Raises Submission.DoesNotExist."""
    rows = Submission.of_any_scope.select_for_update(of=("self",))
    related = ("organisation", "harness_version__harness", "task_set", "upload", "slot")
    return rows.select_related(*related).get(pk=submission_id)


def move(
    submission: Submission,
    to: str,
    *,
    cause: Code,
    by: Actor,
    facts: Mapping[str, object] | None = None,
) -> None:
    """Move a locked submission: state, transition row, who pays, audit event.

    `cause` says why and becomes its reason; `facts` fill that code's sentence. Raises Refused (move_not_possible)
    for a move that the table does not list; the database refuses it too. Tickets are the caller's.
    """
    before = submission.state
    if not may_move(before, to, scope=submission.scope, paused_from=submission.paused_from):
        raise refuse(Code.MOVE_NOT_POSSIBLE, state=before, to=to)
    now = clock.now()
    effect = slot_effect(before, to, "" if submission.is_preflight else submission.slot.state)
    submission.state, submission.state_since = to, now
    submission.reason_code, submission.reason_facts = cause.value, dict(facts or {})
    submission.paused_from = before if to == "paused" else ""
    submission.ended_at = now if to in ENDS else None
    submission.check_lease = submission.check_lease_until = None
    submission.save()
    SubmissionTransition.objects.create(
        submission=submission, state=to, at=now, cause=cause, actor_kind=by.kind
    )
    log.append(events.SubmissionMoved(subject=submission.id, before=before, after=to, cause=cause), by=by)
    if effect is SlotEffect.CONSUME:
        slots.consume(submission, cause=cause, by=by)
    elif effect is SlotEffect.RETURN:
        slots.give_back(submission, cause=cause, by=by)
        slots.lift_cooldown(submission, cause=cause, by=by)
    if not submission.is_preflight:
        submission.slot.refresh_from_db()
    telling.tell_move(submission)
    webhooks.enqueue_move(submission)
