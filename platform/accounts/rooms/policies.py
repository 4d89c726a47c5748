"""What is allowed about audit rooms, given the facts: None, or the reason why not. No database."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from accounts.duties.policies import Standing
from accounts.duties.refusals import Reason
from accounts.duties.table import DECISIONS, Decision
from accounts.rooms.models import LONGEST_HOURS

RULE = DECISIONS[Decision.AUDIT_ROOM]


@dataclass(frozen=True)
class Wanted:
    """A room that somebody proposes: about whose submission, for an auditor of which lineage, within which term."""

    hours: int
    reason: str
    lineage: UUID
    auditors_lineage: UUID
    begins: datetime
    ends: datetime
    ended: datetime | None


def may_propose(wanted: Wanted, *, now: datetime, by: Standing) -> Reason | None:
    """Whether this person may propose it now."""
    if not by.duties & RULE.proposers:
        return Reason.NOT_ENTITLED
    if wanted.lineage in by.lineages or wanted.lineage == wanted.auditors_lineage:
        return Reason.OWN_CASE
    if not 1 <= wanted.hours <= LONGEST_HOURS:
        return Reason.ROOM_HOURS
    if now < wanted.begins or is_over(wanted.ends, wanted.ended, now=now):
        return Reason.TERM_IS_OVER
    return None if wanted.reason.strip() else Reason.NO_REASON


def may_end(by: Standing) -> Reason | None:
    """Whether this person may end a room: closing a door takes one of those who open it."""
    return None if by.duties & (RULE.proposers | RULE.approvers) else Reason.NOT_ENTITLED


def is_over(ends: datetime, ended: datetime | None, *, now: datetime) -> bool:
    """Whether a term is over."""
    return now >= min(ends, ended or ends)
