"""Reads about duties: who holds what, who could decide what today, what is due for review."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Q

from accounts.auditors import term_of
from accounts.duties.models import DutyAssignment, DutyCeremony
from accounts.duties.policies import Span, Standing, can_be_taken, may_decide
from accounts.duties.refusals import DutyRefused, Reason
from accounts.duties.table import DECISIONS, DUTIES, Decision, Duty
from accounts.models import AuditorTerm, Organisation, User
from audit.events import Actor
from config import clock


def has_begun() -> bool:
    """Whether the ceremony was held."""
    return DutyCeremony.objects.exists()


def can_submit(person: User) -> bool:
    """Whether the person is a member of an organisation that can submit: of any that does not audit."""
    return Organisation.objects.filter(
        Q(is_operator=True) | Q(audits=None), memberships__user=person
    ).exists()


def spans_of(person: User) -> list[Span]:
    """Every duty that the person holds, held or will hold, the auditor's among them."""
    held = DutyAssignment.objects.filter(person=person, confirmed_at__isnull=False)
    terms = AuditorTerm.objects.filter(person=person)
    return [
        *(row.span for row in held),
        *(
            Span(Duty.AUDITOR, term.begins_at, min(term.ends_at, term.ended_at or term.ends_at))
            for term in terms
        ),
    ]


def duties_of(person: User, at: datetime | None = None) -> frozenset[Duty]:
    """What the person holds at that instant; nothing while the account is not live."""
    now = at or clock.now()
    if not person.is_active or person.is_suspended:
        return frozenset()
    held = DutyAssignment.objects.filter(person=person, confirmed_at__lte=now, begins_at__lte=now)
    duties = {row.kind for row in held if now < row.over_at} if person.is_staff else set()
    if term_of(person) is not None:
        duties.add(Duty.AUDITOR)
    return frozenset(duties)


def standing_of(person: User) -> Standing:
    lineages = Organisation.objects.filter(memberships__user=person).values_list("lineage_id", flat=True)
    return Standing(person.pseudonym, duties_of(person), frozenset(lineages))


def standing(actor: Actor) -> Standing:
    """Of whoever acts. Raises DutyRefused where that is no person."""
    person = User.objects.filter(pseudonym=actor.id).first() if actor.kind == "person" else None
    if person is None:
        raise DutyRefused(Reason.NOT_A_PERSON)
    return standing_of(person)


def require(
    decision: Decision, *, proposed: Actor, approved: Actor, concerned: Collection[UUID] = ()
) -> None:
    """Raise DutyRefused unless these two may take the decision; `concerned` are lineages whose case it is."""
    if reason := may_decide(decision, standing(proposed), standing(approved), concerned=concerned):
        raise DutyRefused(reason)


def appointing(people: Sequence[User], organisation: Organisation) -> Sequence[User]:
    """The two administrators who appoint an auditor of it; nobody before duties have begun. Raises DutyRefused."""
    if not has_begun():
        if people:
            raise DutyRefused(Reason.NOT_BEGUN)
        return ()
    if len(people) != 2:
        raise DutyRefused(Reason.NOT_ENTITLED)
    first, second = (person.actor("command") for person in people)
    require(Decision.DUTY, proposed=first, approved=second, concerned={organisation.lineage_id})
    return people


@dataclass(frozen=True)
class Taken:
    """Who could take a decision: proposers and approvers, and whether among them are two."""

    decision: Decision
    proposers: list[User]
    approvers: list[User]
    possible: bool

    @property
    def name(self) -> str:
        return str(DECISIONS[self.decision].name)


def staff_now() -> list[tuple[User, frozenset[Duty]]]:
    """Everybody who holds a duty at this moment, with all they hold."""
    people = User.objects.filter(
        Q(duties__confirmed_at__isnull=False) | Q(auditor_terms__isnull=False), is_active=True
    ).distinct()
    found = [(person, duties_of(person)) for person in people.order_by("date_joined")]
    return [(person, duties) for person, duties in found if duties]


def decisions_now() -> list[Taken]:
    """Each decision that takes two people, with those who could take it today."""
    staff = staff_now()
    standing_by = [(person.pseudonym, duties) for person, duties in staff]
    return [
        Taken(
            decision,
            [person for person, duties in staff if duties & rule.proposers],
            [person for person, duties in staff if duties & rule.approvers],
            can_be_taken(decision, standing_by),
        )
        for decision, rule in DECISIONS.items()
    ]


def two_administrators_until() -> datetime | None:
    """Until when there are two, if nobody is given that duty again; None where there are not two now.

    After that instant nobody could give any duty, so it is worth knowing long before.
    """
    ends: dict[UUID, datetime] = {}
    rows = DutyAssignment.objects.select_related("person").filter(
        duty=Duty.ADMINISTRATOR.value,
        confirmed_at__isnull=False,
        person__is_active=True,
        person__is_staff=True,
    )
    for row in rows.filter(person__suspended_at=None):
        if row.over_at > clock.now():
            ends[row.person_id] = max(row.over_at, ends.get(row.person_id, row.over_at))
    latest = sorted(ends.values(), reverse=True)
    return latest[1] if len(latest) > 1 else None


@dataclass(frozen=True)
class Line:
    """One duty in the review, with its state: proposed, coming, held, due (for review) or over."""

    row: DutyAssignment
    state: str

    @property
    def name(self) -> str:
        return str(DUTIES[self.row.kind].name)


def state_of(row: DutyAssignment) -> str:
    """As the review shows it. What nobody confirmed before it would have ended is over."""
    now = clock.now()
    if now >= row.over_at or row.ended_at is not None:
        return "over"
    if row.confirmed_at is None:
        return "proposed"
    if now < row.begins_at:
        return "coming"
    return "due" if row.review_due_at is not None and row.review_due_at <= now else "held"


def lines(*, over: bool = False) -> list[Line]:
    """All duties that are not over, or all that are; those that need somebody first."""
    order = ("due", "proposed", "held", "coming", "over")
    rows = DutyAssignment.objects.select_related("person", "assigned_by", "confirmed_by").order_by("ends_at")
    found = [Line(row, state_of(row)) for row in rows]
    kept = [line for line in found if (line.state == "over") is over]
    return sorted(kept, key=lambda line: order.index(line.state))


def assignment(identifier: UUID) -> DutyAssignment | None:
    rows = DutyAssignment.objects.select_related("person", "assigned_by", "confirmed_by")
    return rows.filter(pk=identifier).first()
