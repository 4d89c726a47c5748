"""Every change of a duty: one transaction each, with its audit event. Raises DutyRefused for what is not allowed."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import transaction

from accounts import events
from accounts.duties import policies, queries
from accounts.duties.models import DutyAssignment, DutyCeremony
from accounts.duties.policies import LONGEST, REVIEW_EVERY, Span
from accounts.duties.refusals import DutyRefused, Reason, refusing
from accounts.duties.table import Duty
from accounts.models import User
from accounts.notices.kinds import Kind
from accounts.notices.services import notify
from audit import log
from audit.canonical import timestamp
from audit.events import Actor
from audit.texts import concealed
from config import clock

REMIND_BEFORE = timedelta(days=14)
"""How long before its end the holder of a duty is told."""
CEREMONY = "The ceremony on the host."
"""The reason of the first two assignments."""


def hold_ceremony(first: User, second: User, *, until: datetime, by: Actor) -> DutyCeremony:
    """Name the first two administrators, each confirmed by the other. This happens once, for ever."""
    now = clock.now()
    if queries.has_begun():
        raise DutyRefused(Reason.BEGUN)
    if first.pk == second.pk:
        raise DutyRefused(Reason.ONE_PERSON)
    if not all(_is_staff(person) for person in (first, second)):
        raise DutyRefused(Reason.NOT_STAFF)
    if until <= now or until - now > LONGEST:
        raise DutyRefused(Reason.DATES if until <= now else Reason.TOO_LONG)
    with refusing(), transaction.atomic():
        ceremony = DutyCeremony.objects.create(pk=1, first=first, second=second, held_at=now)
        begun = events.DutiesBegun(
            subject=str(ceremony.pk), first=str(first.pseudonym), second=str(second.pseudonym)
        )
        log.append(begun, by=by)
        for person, other in ((first, second), (second, first)):
            wanted = Span(Duty.ADMINISTRATOR, now, until)
            row = _propose(person, wanted, reason=CEREMONY, proposer=person, by=by)
            _confirm(row, reason=CEREMONY, confirmer=other, by=by)
    return ceremony


def propose(
    person: User, duty: Duty, *, begins_at: datetime, ends_at: datetime, reason: str, by: Actor
) -> DutyAssignment:
    """Propose that the person hold the duty; they hold it once another administrator has confirmed it."""
    proposer = queries.standing(by)
    if not queries.has_begun():
        raise DutyRefused(Reason.NOT_BEGUN)
    wanted = Span(duty, begins_at, ends_at)
    refusal = policies.may_be_proposed(
        wanted, now=clock.now(), reason=reason, is_staff=_is_staff(person), by=proposer
    ) or _may_be_held(person, wanted)
    if refusal:
        raise DutyRefused(refusal)
    with refusing(), transaction.atomic():
        return _propose(person, wanted, reason=reason, proposer=_person(by), by=by)


def confirm(assignment: DutyAssignment, *, reason: str, by: Actor) -> None:
    """Be the second of the two people behind it; from now on it is held, between its dates."""
    confirmer = queries.standing(by)
    with refusing(), transaction.atomic():
        row = _locked(assignment)
        if row.confirmed_at is not None:
            raise DutyRefused(Reason.IS_CONFIRMED)
        refusal = (
            policies.may_confirm(
                proposer=row.assigned_by_id, holder=row.person_id, reason=reason, by=confirmer
            )
            or (None if _is_staff(row.person) else Reason.NOT_STAFF)
            or _may_be_held(row.person, row.span)
        )
        if refusal:
            raise DutyRefused(refusal)
        _confirm(row, reason=reason, confirmer=_person(by), by=by)
        _tell(row, Kind.DUTY_GIVEN)
    assignment.refresh_from_db()


def review(assignment: DutyAssignment, *, reason: str, by: Actor) -> None:
    """Say that it is still due; it is looked at again after the same while."""
    reviewer = queries.standing(by)
    with refusing(), transaction.atomic():
        row = _locked(assignment)
        if row.confirmed_at is None:
            raise DutyRefused(Reason.NOT_CONFIRMED)
        if refusal := policies.may_review(holder=row.person_id, reason=reason, by=reviewer):
            raise DutyRefused(refusal)
        now = clock.now()
        row.reviewed_by, row.reviewed_at, row.review_reason = _person(by), now, reason.strip()
        row.review_due_at = now + REVIEW_EVERY
        row.save(update_fields=["reviewed_by", "reviewed_at", "review_reason", "review_due_at"])
        event = events.DutyReviewed(
            subject=row.id,
            reviewed_by=by.id,
            at=timestamp(now),
            review_due=timestamp(row.review_due_at),
            reason=concealed(row.review_reason),
        )
        log.append(event, by=by)
    assignment.refresh_from_db()


def end(assignment: DutyAssignment, *, reason: str, by: Actor) -> None:
    """End it now, or withdraw the proposal: one administrator does, so that it can be done at once."""
    ending = queries.standing(by)
    with refusing(), transaction.atomic():
        row = _locked(assignment)
        if refusal := policies.may_end(reason=reason, by=ending):
            raise DutyRefused(refusal)
        row.ended_by, row.ended_at, row.end_reason = _person(by), clock.now(), reason.strip()
        row.save(update_fields=["ended_by", "ended_at", "end_reason"])
        event = events.DutyEnded(
            subject=row.id, ended_by=by.id, at=timestamp(row.ended_at), reason=concealed(row.end_reason)
        )
        log.append(event, by=by)
        if row.confirmed_at is not None:
            _tell(row, Kind.DUTY_ENDED)
    assignment.refresh_from_db()


def _propose(person: User, wanted: Span, *, reason: str, proposer: User, by: Actor) -> DutyAssignment:
    row = DutyAssignment.objects.create(
        person=person,
        duty=wanted.duty.value,
        begins_at=wanted.begins,
        ends_at=wanted.ends,
        assigned_by=proposer,
        assigned_at=clock.now(),
        reason=reason.strip(),
    )
    event = events.DutyProposed(
        subject=row.id,
        account=str(person.pseudonym),
        duty=row.duty,
        begins=timestamp(row.begins_at),
        ends=timestamp(row.ends_at),
        proposed_by=str(proposer.pseudonym),
        at=timestamp(row.assigned_at),
        reason=concealed(row.reason),
    )
    log.append(event, by=by)
    return row


def _confirm(row: DutyAssignment, *, reason: str, confirmer: User, by: Actor) -> None:
    now = clock.now()
    row.confirmed_by, row.confirmed_at, row.confirm_reason = confirmer, now, reason.strip()
    row.review_due_at = max(now, row.begins_at) + REVIEW_EVERY
    row.save(update_fields=["confirmed_by", "confirmed_at", "confirm_reason", "review_due_at"])
    event = events.DutyConfirmed(
        subject=row.id,
        confirmed_by=str(confirmer.pseudonym),
        at=timestamp(now),
        review_due=timestamp(row.review_due_at),
        reason=concealed(row.confirm_reason),
    )
    log.append(event, by=by)


def _may_be_held(person: User, wanted: Span) -> Reason | None:
    return policies.may_be_held(wanted, queries.spans_of(person), can_submit=queries.can_submit(person))


def _locked(assignment: DutyAssignment) -> DutyAssignment:
    """The row, held until the transaction ends. Raises DutyRefused where it is over."""
    row = DutyAssignment.objects.select_for_update().get(pk=assignment.pk)
    if row.ended_at is not None or row.ends_at <= clock.now():
        raise DutyRefused(Reason.IS_OVER)
    return row


def _is_staff(person: User) -> bool:
    return person.is_staff and person.is_active and not person.is_suspended


def _person(actor: Actor) -> User:
    return User.objects.get(pseudonym=actor.id)


def remind() -> None:
    """Tell holders of duties that end within `REMIND_BEFORE`, once each."""
    now = clock.now()
    ending = DutyAssignment.objects.filter(
        ended_at=None, confirmed_at__isnull=False, ends_at__gt=now, ends_at__lte=now + REMIND_BEFORE
    )
    for row in ending.select_related("person"):
        _tell(row, Kind.DUTY_ENDING)


def _tell(row: DutyAssignment, kind: Kind) -> None:
    notify([row.person], kind, subject=row.id, facts={"duty": row.duty, "ends": timestamp(row.ends_at)})
