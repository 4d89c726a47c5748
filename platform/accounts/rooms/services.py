"""Every change of an audit room: one transaction each, with its audit event. Raises DutyRefused for what may not be."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from django.db import transaction

from accounts import events
from accounts.duties import queries
from accounts.duties.refusals import DutyRefused, Reason, refusing
from accounts.duties.table import Decision
from accounts.models import AuditorTerm, Organisation, User
from accounts.rooms import policies
from accounts.rooms.models import AuditRoom
from audit import log
from audit.canonical import timestamp
from audit.events import Actor
from audit.texts import concealed
from config import clock


def propose(
    term: AuditorTerm, submission_id: UUID, lineage_id: UUID, *, hours: int, reason: str, by: Actor
) -> AuditRoom:
    """Propose that this auditor see the single results of a submission of that lineage, for some hours."""
    audits = Organisation.objects.get(pk=term.organisation_id).lineage_id
    facts = policies.Wanted(hours, reason, lineage_id, audits, term.begins_at, term.ends_at, term.ended_at)
    if refusal := policies.may_propose(facts, now=clock.now(), by=queries.standing(by)):
        raise DutyRefused(refusal)
    with refusing(), transaction.atomic():
        room = AuditRoom.objects.create(
            term=term,
            submission_id=submission_id,
            lineage_id=lineage_id,
            hours=hours,
            reason=reason.strip(),
            proposed_by=User.objects.get(pseudonym=by.id),
            proposed_at=clock.now(),
        )
        event = events.RoomProposed(
            subject=room.id,
            term=str(term.pk),
            submission=str(submission_id),
            hours=hours,
            proposed_by=by.id,
            reason=concealed(room.reason),
        )
        log.append(event, by=by)
    return room


def open_room(room: AuditRoom, *, by: Actor) -> None:
    """Be the second of the two people: from now on the auditor can enter."""
    with refusing(), transaction.atomic():
        row = _locked(room)
        if row.opened_at is not None:
            raise DutyRefused(Reason.IS_CONFIRMED)
        proposer = row.proposed_by.actor("web")
        queries.require(Decision.AUDIT_ROOM, proposed=proposer, approved=by, concerned={row.lineage_id})
        if policies.is_over(row.term.ends_at, row.term.ended_at, now=clock.now()):
            raise DutyRefused(Reason.TERM_IS_OVER)
        row.opened_by, row.opened_at = User.objects.get(pseudonym=by.id), clock.now()
        row.closes_at = min(row.opened_at + timedelta(hours=row.hours), row.term.ends_at)
        row.save(update_fields=["opened_by", "opened_at", "closes_at"])
        event = events.RoomOpened(
            subject=row.id,
            opened_by=by.id,
            at=timestamp(row.opened_at),
            closes=timestamp(row.closes_at),
        )
        log.append(event, by=by)
    room.refresh_from_db()


def end(room: AuditRoom, *, by: Actor) -> None:
    """End it now, or withdraw the proposal: one of those who could propose or open it does."""
    if refusal := policies.may_end(queries.standing(by)):
        raise DutyRefused(refusal)
    with refusing(), transaction.atomic():
        row = _locked(room)
        row.ended_by, row.ended_at = User.objects.get(pseudonym=by.id), clock.now()
        row.save(update_fields=["ended_by", "ended_at"])
        log.append(
            events.RoomEnded(subject=row.id, ended_by=by.id, at=timestamp(row.ended_at)),
            by=by,
        )
    room.refresh_from_db()


def _locked(room: AuditRoom) -> AuditRoom:
    """The row, held until the transaction ends. Raises DutyRefused where it is over."""
    row = AuditRoom.objects.select_for_update().get(pk=room.pk)
    if row.is_over:
        raise DutyRefused(Reason.IS_OVER)
    return row
