"""The rotation queue: a task enters it, two people decide about it, the clock moves it on.

One transaction a step, with its event. Raises Refused and accounts' DutyRefused.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.db import transaction

from accounts.duties import queries as duties
from accounts.duties.policies import takes_part
from accounts.duties.refusals import DutyRefused, refusing
from accounts.duties.refusals import Reason as DutyReason
from accounts.duties.table import DECISIONS
from accounts.models import User
from audit import log
from audit.events import Actor
from audit.texts import concealed
from benchmark.models import Group, TaskRevision, TaskSetVersion
from config import clock
from governance.rotation import events
from governance.rotation.models import RotationEntry
from governance.rotation.policies import (
    BACK_TO_QUEUE,
    ENTRY_BECOMES,
    ENTRY_ENDS,
    ENTRY_STAYS,
    ESCALATED_TO,
    OWNER,
    Cause,
    Verdict,
    decision_of,
)
from submissions.problems import Code, refuse

State = RotationEntry.State
MOVED = (
    *("state", "state_since", "due_at", "owner"),
    *("verdict", "ground", "verdict_reason", "proposed_by", "decided_by"),
)
"""What the console may write of an entry."""


def propose(
    task_set: TaskSetVersion,
    task: TaskRevision,
    *,
    cause: str,
    reason: str,
    by: Actor,
    score: float = 0.0,
    evidence: Mapping[str, Any] | None = None,
) -> RotationEntry:
    """The task enters the queue. By hand, and for a reported leak, a reason is due and `by` may be anybody's.

    Raises Refused: rotation_not_held_out, rotation_queued_already; DutyRefused: duty_no_reason.
    """
    if task.version_id != task_set.pk or task.group != Group.HELD_OUT or not task_set.is_frozen:
        raise refuse(Code.ROTATION_NOT_HELD_OUT)
    if Cause(cause) in (Cause.HAND, Cause.LEAK) and not reason.strip():
        raise DutyRefused(DutyReason.NO_REASON)
    with transaction.atomic():
        # Two who propose one task at once wait for each other here.
        TaskSetVersion.objects.select_for_update().get(pk=task_set.pk)
        if RotationEntry.objects.filter(task=task).exclude(state__in=ENTRY_ENDS).exists():
            raise refuse(Code.ROTATION_QUEUED_ALREADY)
        now = clock.now()
        row = RotationEntry.objects.create(
            task_set=task_set,
            task=task,
            cause=Cause(cause).value,
            score=score,
            evidence=dict(evidence or {}),
            reason=reason.strip(),
            opened_at=now,
            state_since=now,
            due_at=now + ENTRY_STAYS[State.QUEUED],
        )
        event = events.EntryOpened(
            subject=row.id,
            task_set=task_set.label,
            task=concealed(str(task.pk)),
            cause=row.cause,
            reason=concealed(row.reason) if row.reason else None,
        )
        log.append(event, by=by)
    return row


def suggest(which: UUID, *, verdict: str, reason: str, by: Actor, ground: str = "") -> RotationEntry:
    """The first of two people says what to do; a retirement has one of three grounds.

    Raises Refused (rotation_moved_on, rotation_no_ground) and DutyRefused.
    """
    decision = decision_of(Verdict(verdict))
    standing = duties.standing(by)
    if not standing.duties & DECISIONS[decision].proposers:
        raise DutyRefused(DutyReason.NOT_ENTITLED)
    if not reason.strip():
        raise DutyRefused(DutyReason.NO_REASON)
    with transaction.atomic():
        row = _locked(which, State.QUEUED)
        row.verdict, row.verdict_reason = Verdict(verdict).value, reason.strip()
        row.ground = ground if row.verdict == Verdict.RETIRE else ""
        if row.verdict == Verdict.RETIRE and ground not in RotationEntry.Ground.values:
            raise refuse(Code.ROTATION_NO_GROUND)
        row.proposed_by = _person(by)
        _move(
            row,
            State.PROPOSED,
            by=by,
            verdict=row.verdict,
            reason=concealed(row.verdict_reason),
            proposed_by=by.id,
            ground=row.ground or None,
        )
    return row


def confirm(which: UUID, *, by: Actor) -> RotationEntry:
    """The second person decides as the first proposed. Raises Refused (rotation_moved_on) and DutyRefused."""
    with refusing(), transaction.atomic():
        row = _locked(which, State.PROPOSED)
        assert row.proposed_by is not None
        verdict = Verdict(row.verdict)
        duties.require(decision_of(verdict), proposed=row.proposed_by.actor("web"), approved=by)
        row.decided_by = _person(by)
        _move(row, ENTRY_BECOMES[verdict], by=by, verdict=row.verdict, decided_by=by.id)
    return row


def send_back(which: UUID, *, by: Actor) -> RotationEntry:
    """Withdraw or decline what was proposed; the task stays queued. Raises like `confirm`."""
    with transaction.atomic():
        row = _locked(which, State.PROPOSED)
        if not takes_part(duties.standing(by).duties, decision_of(Verdict(row.verdict))):
            raise DutyRefused(DutyReason.NOT_ENTITLED)
        _requeue(row, by=by)
    return row


def tend(*, by: Actor) -> int:
    """Move on what is past its deadline; how many. Proposals lapse, watches end, the rest goes to administrators."""
    late = RotationEntry.objects.filter(due_at__lte=clock.now()).values_list("pk", flat=True)
    return sum(_overdue(which, by=by) for which in list(late))


def _overdue(which: UUID, *, by: Actor) -> bool:
    with transaction.atomic():
        row = RotationEntry.objects.select_for_update().get(pk=which)
        if row.due_at is None or row.due_at > clock.now():
            return False
        if row.state in BACK_TO_QUEUE:
            _requeue(row, by=by)
            return True
        row.owner, row.due_at = ESCALATED_TO, clock.now() + ENTRY_STAYS[row.state]
        row.save(update_fields=["owner", "due_at"])
        log.append(events.EntryEscalated(subject=row.id, owner=row.owner), by=by)
    return True


def leave(row: RotationEntry, *, by: Actor) -> None:
    """Its task is no more in the version that was frozen; inside the transaction that puts the plan in force."""
    _move(row, State.RETIRED if row.state == State.RETIRING else State.REPLACED, by=by)


def _requeue(row: RotationEntry, *, by: Actor) -> None:
    row.verdict = row.verdict_reason = row.ground = ""
    row.proposed_by = row.decided_by = None
    _move(row, State.QUEUED, by=by)


def _move(
    row: RotationEntry,
    to: str,
    *,
    by: Actor,
    verdict: str | None = None,
    reason: str | None = None,
    proposed_by: str | None = None,
    decided_by: str | None = None,
    ground: str | None = None,
) -> None:
    before, now = row.state, clock.now()
    row.state, row.state_since = to, now
    is_over = to in ENTRY_ENDS
    row.due_at = None if is_over else now + ENTRY_STAYS[to]
    row.owner = "" if is_over else OWNER
    row.save(update_fields=MOVED)
    event = events.EntryMoved(
        subject=row.id,
        before=before,
        after=to,
        verdict=verdict,
        ground=ground,
        reason=reason,
        proposed_by=proposed_by,
        decided_by=decided_by,
    )
    log.append(event, by=by)


def _locked(which: UUID, state: str) -> RotationEntry:
    row = RotationEntry.objects.select_for_update(of=("self",)).select_related("proposed_by").get(pk=which)
    if row.state != state:
        raise refuse(Code.ROTATION_MOVED_ON)
    return row


def _person(by: Actor) -> User:
    return User.objects.get(pseudonym=by.id)
