"""Verification as rules: deadlines in working days, how long it holds, who may decide. No database."""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import StrEnum

from accounts.duties.policies import Standing, may_decide
from accounts.duties.refusals import Reason
from accounts.duties.table import Decision, Duty

ANSWER_WITHIN = 3
"""Working days, Monday to Friday in UTC; public holidays are not looked up."""
REMIND_BEFORE = timedelta(days=30)
"""So long before it expires the organisation is reminded to register again."""
SATURDAY = 5


class Verification(StrEnum):
    """How an organisation stands: the one answer that web, API and staff pages give."""

    UNDER_REVIEW = "under_review"
    VERIFIED = "verified"
    EXPIRED = "expired"
    SUSPENDED = "suspended"


def verification(state: str, until: datetime | None, now: datetime) -> Verification:
    """From the stored state and the instant until which it holds; without one it does not expire."""
    if state == Verification.VERIFIED and until is not None and until <= now:
        return Verification.EXPIRED
    return Verification(state)


def answer_due(filed: datetime) -> datetime:
    """The instant by which staff answer: the same time of day, the third working day after.

    What is filed on a weekend counts as filed at the first instant of Monday.
    """
    due = filed
    if due.weekday() >= SATURDAY:
        due = (due + timedelta(days=7 - due.weekday())).replace(hour=0, minute=0, second=0, microsecond=0)
    left = ANSWER_WITHIN
    while left:
        due += timedelta(days=1)
        left -= due.weekday() < SATURDAY
    return due


def may_look(by: Standing) -> bool:
    """Whether this person may see registered data at all."""
    return Duty.IDENTITY_REVIEWER in by.duties


def may_propose(by: Standing, *, lineage: object) -> Reason | None:
    """Whether this person may be the first of the two."""
    if Duty.IDENTITY_REVIEWER not in by.duties:
        return Reason.NOT_ENTITLED
    return Reason.OWN_CASE if lineage in by.lineages else None


def may_approve(proposer: Standing, by: Standing, *, lineages: set[object]) -> Reason | None:
    """Whether this person may be the second of the two."""
    return may_decide(Decision.IDENTITY, proposer, by, concerned=lineages)  # type: ignore[arg-type]
