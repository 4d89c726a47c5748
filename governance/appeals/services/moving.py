"""The one function that moves an appeal, and what happens where a stage is over."""

from __future__ import annotations

from uuid import UUID

from django.db import transaction

from audit import log
from audit.canonical import timestamp
from audit.events import Actor
from config import clock
from governance.appeals import events, policies, telling
from governance.appeals.models import Appeal
from governance.appeals.policies import ENDS, MOVES, Cause, State
from submissions.problems import Code, refuse

MOVED = ["state", "state_since", "cause", "due_at", "ended_at"]


def locked(which: UUID) -> Appeal:
    """The appeal, held until the transaction ends."""
    rows = Appeal.objects.select_for_update(of=("self",)).select_related(
        "organisation", "task_set", "submission__harness_version__harness"
    )
    return rows.get(pk=which)


def require_state(appeal: Appeal, *states: str) -> None:
    """Raises Refused (appeal_moved_on) in any other state."""
    if appeal.state not in states:
        raise refuse(Code.APPEAL_MOVED_ON)


def move(appeal: Appeal, to: State, *, cause: Cause, by: Actor) -> None:
    """Make one move of an appeal that is held, with its new deadline, and tell whom it concerns."""
    if to not in MOVES.get(appeal.state, ()):
        raise refuse(Code.APPEAL_MOVED_ON)
    before, now = appeal.state, clock.now()
    appeal.state, appeal.state_since, appeal.cause = to, now, cause
    appeal.due_at = policies.due(to, since=now, filed=appeal.filed_at, escalations=appeal.escalations)
    appeal.ended_at = now if to in ENDS else None
    changed = list(MOVED)
    if to == State.ADMITTED:
        appeal.admitted_at = now
        changed.append("admitted_at")
    appeal.save(update_fields=changed)
    event = events.AppealMoved(
        subject=appeal.id,
        before=before,
        after=to,
        cause=cause,
        due=timestamp(appeal.due_at) if appeal.due_at else None,
    )
    log.append(event, by=by)
    telling.tell_move(appeal)


def escalate(which: UUID, *, by: Actor) -> bool:
    """Hand a late appeal on, with a new deadline for its stage; whether it was late."""
    with transaction.atomic():
        appeal = locked(which)
        now = clock.now()
        if appeal.due_at is None or appeal.due_at > now:
            return False
        appeal.escalations += 1
        appeal.due_at = policies.due(
            appeal.state, since=now, filed=appeal.filed_at, escalations=appeal.escalations
        )
        appeal.save(update_fields=["escalations", "due_at"])
        owner = policies.owner(appeal.state, escalations=appeal.escalations)
        assert appeal.due_at is not None, "an open appeal has a deadline"
        assert owner is not None, "and somebody whose turn it is"
        event = events.AppealEscalated(
            subject=appeal.id,
            state=appeal.state,
            owner=owner.value,
            times=appeal.escalations,
            due=timestamp(appeal.due_at),
        )
        log.append(event, by=by)
        telling.tell_late(appeal)
    return True
