"""Returning one counted use: one transaction a step, with its event. Raises DutyRefused and Refused."""

from __future__ import annotations

from uuid import UUID

from django.db import transaction

from accounts.duties import queries as duties
from accounts.duties.policies import Standing
from accounts.duties.refusals import DutyRefused, Reason, refusing
from accounts.duties.table import DECISIONS, Decision
from accounts.models import User
from audit import log
from audit.canonical import timestamp
from audit.events import Actor
from audit.texts import concealed
from config import clock
from submissions import events
from submissions.models import Slot, Submission
from submissions.problems import Code, refuse
from submissions.returns.models import UseReturn
from submissions.services import refund

RULE = DECISIONS[Decision.QUOTA_GRANT]


def propose(submission_id: UUID, *, reason: str, by: Actor) -> UseReturn:
    """Propose that the use of this submission be returned. Raises Refused: refund_not_possible, return_exists."""
    standing = duties.standing(by)
    if not standing.duties & RULE.proposers:
        raise DutyRefused(Reason.NOT_ENTITLED)
    if not reason.strip():
        raise DutyRefused(Reason.NO_REASON)
    with transaction.atomic():
        # Two who propose at once wait for each other here; the second finds the first one's row.
        Submission.objects.select_for_update().get(pk=submission_id)
        slot = Slot.objects.select_related("submission__organisation").get(submission=submission_id)
        _require_stranger(slot, standing)
        if slot.state != Slot.State.CONSUMED:
            raise refuse(Code.REFUND_NOT_POSSIBLE)
        if UseReturn.objects.filter(slot=slot, withdrawn_at=None).exists():
            raise refuse(Code.RETURN_EXISTS)
        row = UseReturn.objects.create(
            slot=slot,
            reason=reason.strip(),
            proposed_by=User.objects.get(pseudonym=by.id),
            proposed_at=clock.now(),
        )
        event = events.UseReturnProposed(
            subject=row.id,
            slot=str(slot.id),
            submission=str(submission_id),
            proposed_by=by.id,
            reason=concealed(row.reason),
        )
        log.append(event, by=by)
    return row


def approve(which: UUID, *, by: Actor) -> UseReturn:
    """Be the second person: the use is returned now, and the vendor is told. Raises Refused: refund_not_possible."""
    with refusing(), transaction.atomic():
        row = _locked(which)
        slot = row.slot
        duties.require(
            Decision.QUOTA_GRANT,
            proposed=row.proposed_by.actor("web"),
            approved=by,
            concerned=_concerned(slot),
        )
        row.approved_by, row.approved_at = User.objects.get(pseudonym=by.id), clock.now()
        row.save(update_fields=["approved_by", "approved_at"])
        event = events.UseReturnApproved(
            subject=row.id,
            slot=str(slot.id),
            submission=str(slot.submission_id),
            approved_by=by.id,
            at=timestamp(row.approved_at),
        )
        log.append(event, by=by)
        refund(slot.submission, cause=Code.REFUND_BY_STAFF, by=by, reason=row.reason)
    return row


def withdraw(which: UUID, *, by: Actor) -> UseReturn:
    """Take the proposal back, or decline it: one of those who could propose or approve it does."""
    standing = duties.standing(by)
    if not standing.duties & (RULE.proposers | RULE.approvers):
        raise DutyRefused(Reason.NOT_ENTITLED)
    with transaction.atomic():
        row = _locked(which)
        _require_stranger(row.slot, standing)
        row.withdrawn_by, row.withdrawn_at = User.objects.get(pseudonym=by.id), clock.now()
        row.save(update_fields=["withdrawn_by", "withdrawn_at"])
        event = events.UseReturnWithdrawn(
            subject=row.id,
            slot=str(row.slot_id),
            submission=str(row.slot.submission_id),
            withdrawn_by=by.id,
            at=timestamp(row.withdrawn_at),
        )
        log.append(event, by=by)
    return row


def _locked(which: UUID) -> UseReturn:
    """The proposal, held until the transaction ends. Raises DutyRefused where it is approved or withdrawn."""
    row = (
        UseReturn.objects.select_for_update(of=("self",))
        .select_related("slot__submission__organisation", "proposed_by")
        .get(pk=which)
    )
    if row.state != "proposed":
        raise DutyRefused(Reason.IS_CONFIRMED if row.state == "approved" else Reason.IS_OVER)
    return row


def _concerned(slot: Slot) -> frozenset[UUID]:
    """The lineage that the use was counted for, and that of the organisation now."""
    return frozenset({slot.lineage_id, slot.submission.organisation.lineage_id})


def _require_stranger(slot: Slot, standing: Standing) -> None:
    if standing.lineages & _concerned(slot):
        raise DutyRefused(Reason.OWN_CASE)
