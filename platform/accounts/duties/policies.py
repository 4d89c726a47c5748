"""What is allowed about duties, given the facts: None, or the reason why not. No database.

The triggers of the table say the same once more, under a lock; tests hold the two together.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from accounts.duties.refusals import Reason
from accounts.duties.table import DECISIONS, KEPT_APART, Decision, Duty, conflicting

LONGEST = timedelta(days=366)
"""The longest time for which a duty is given; then it is proposed anew."""
REVIEW_EVERY = timedelta(days=90)
"""How long after its confirmation, or the last review, somebody looks again whether it is still due."""
FEWEST_ADMINISTRATORS = 2
"""Without two nobody could ever be given a duty again."""


@dataclass(frozen=True)
class Span:
    """A duty from an instant to another, the end not included."""

    duty: Duty
    begins: datetime
    ends: datetime

    def at(self, instant: datetime) -> bool:
        return self.begins <= instant < self.ends

    def meets(self, other: Span) -> bool:
        """Whether there is an instant in both."""
        return max(self.begins, other.begins) < min(self.ends, other.ends)


@dataclass(frozen=True)
class Standing:
    """What counts of a person: their duties now, and the lineages of the organisations they belong to."""

    person: UUID
    duties: frozenset[Duty]
    lineages: frozenset[UUID] = frozenset()


def may_be_proposed(
    wanted: Span, *, now: datetime, reason: str, is_staff: bool, by: Standing
) -> Reason | None:
    """Whether an administrator may propose this for a person who is staff or not."""
    if Duty.ADMINISTRATOR not in by.duties:
        return Reason.NOT_ADMINISTRATOR
    if wanted.duty is Duty.AUDITOR:
        return Reason.BY_TERM
    if not is_staff:
        return Reason.NOT_STAFF
    if wanted.ends <= wanted.begins or wanted.ends <= now:
        return Reason.DATES
    if wanted.ends - wanted.begins > LONGEST:
        return Reason.TOO_LONG
    return None if reason.strip() else Reason.NO_REASON


def may_be_held(wanted: Span, others: Iterable[Span], *, can_submit: bool) -> Reason | None:
    """Whether a person may hold this beside the `others`; `can_submit` says that they belong to somebody who can."""
    if can_submit and wanted.duty in KEPT_APART:
        return Reason.MEMBER
    for other in others:
        if not wanted.meets(other):
            continue
        if other.duty is wanted.duty:
            return Reason.HELD
        if conflicting(wanted.duty, other.duty):
            return Reason.CONFLICT
    return None


def may_confirm(*, proposer: UUID, holder: UUID, reason: str, by: Standing) -> Reason | None:
    """Whether this administrator may be the second person behind a duty."""
    if Duty.ADMINISTRATOR not in by.duties:
        return Reason.NOT_ADMINISTRATOR
    if by.person == proposer:
        return Reason.ONE_PERSON
    return may_review(holder=holder, reason=reason, by=by)


def may_review(*, holder: UUID, reason: str, by: Standing) -> Reason | None:
    """Whether this administrator may say that a duty is still due; who proposed it may."""
    if Duty.ADMINISTRATOR not in by.duties:
        return Reason.NOT_ADMINISTRATOR
    if by.person == holder:
        return Reason.OWN
    return None if reason.strip() else Reason.NO_REASON


def may_end(*, reason: str, by: Standing) -> Reason | None:
    """Whether this administrator may end a duty, also their own; how many are left is for the database to count."""
    if Duty.ADMINISTRATOR not in by.duties:
        return Reason.NOT_ADMINISTRATOR
    return None if reason.strip() else Reason.NO_REASON


def takes_part(duties: frozenset[Duty], decision: Decision) -> bool:
    """Whether who holds these may be one of the two whom the decision takes."""
    rule = DECISIONS[decision]
    return bool(duties & (rule.proposers | rule.approvers))


def may_decide(
    decision: Decision, proposer: Standing, approver: Standing, *, concerned: Collection[UUID] = ()
) -> Reason | None:
    """Whether these two may take the decision; `concerned` are the lineages whose case it is."""
    if proposer.person == approver.person:
        return Reason.ONE_PERSON
    rule = DECISIONS[decision]
    if not (proposer.duties & rule.proposers and approver.duties & rule.approvers):
        return Reason.NOT_ENTITLED
    if any(who.lineages.intersection(concerned) for who in (proposer, approver)):
        return Reason.OWN_CASE
    return None


def can_be_taken(decision: Decision, staff: Iterable[tuple[object, frozenset[Duty]]]) -> bool:
    """Whether among these people, each with their duties, there are two for it."""
    rule = DECISIONS[decision]
    people = list(staff)
    proposers = {who for who, duties in people if duties & rule.proposers}
    approvers = {who for who, duties in people if duties & rule.approvers}
    return bool(proposers and approvers) and len(proposers | approvers) > 1
