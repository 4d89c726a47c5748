"""What people decide about a submission: cancel, the blind choice, consent to publish, the return of a use."""

from __future__ import annotations

from uuid import UUID

from django.db import transaction

from audit import log
from audit.events import Actor
from submissions import events, tickets
from submissions.models import Slot, Submission
from submissions.problems import Code, refuse
from submissions.services import slots, standing, telling
from submissions.services.moves import locked, move

CHOICES = {
    "keep": (Submission.State.INCOMPLETE, Code.CHOICE_KEEP),
    "void": (Submission.State.VOIDED, Code.CHOICE_VOID),
}


def cancel(submission_id: UUID, *, by: Actor) -> Submission:
    """End a submission or a preflight. Before held-out tasks start the use is returned, afterwards it stays counted.

    Cancelling what is cancelled changes nothing. Raises Refused: move_not_possible, standing.
    """
    with transaction.atomic():
        submission = locked(submission_id)
        if by.kind in ("person", "token", "ci") and by.organisation == str(submission.organisation_id):
            standing.require(submission.organisation, by)
        if submission.state == Submission.State.CANCELLED:
            return submission
        move(submission, Submission.State.CANCELLED, cause=_cancelling(submission), by=by)
        tickets.send("submissions.tasks.advance", submission.id)
    return submission


def _cancelling(submission: Submission) -> Code:
    if submission.is_preflight:
        return Code.PREFLIGHT_CANCELLED
    counted = submission.slot.state == Slot.State.CONSUMED
    return Code.CANCELLED_AFTER_START if counted else Code.CANCELLED_BY_VENDOR


def choose(submission_id: UUID, choice: str, *, by: Actor) -> Submission:
    """The blind choice, made before any number is shown: `keep` (counted, incomplete, not ranked) or `void` (returned).

    Raises Refused: move_not_possible, choice_not_possible, standing; ValueError for another word.
    """
    if choice not in CHOICES:
        raise ValueError(f"{choice!r} is neither keep nor void")
    to, cause = CHOICES[choice]
    with transaction.atomic():
        submission = locked(submission_id)
        standing.require(submission.organisation, by)
        if submission.state != Submission.State.AWAITING_CHOICE:
            raise refuse(Code.MOVE_NOT_POSSIBLE, state=submission.state, to=to)
        if choice == "keep" and submission.held_out_run_id is None:
            raise refuse(Code.CHOICE_NOT_POSSIBLE)
        move(submission, to, cause=cause, by=by)
        tickets.send("submissions.tasks.advance", submission.id)
    return submission


def set_publication_consent(submission_id: UUID, *, consent: str, by: Actor) -> Submission:
    """Give or withdraw consent to publish: `given` or `withdrawn`. Recorded each time it changes."""
    with transaction.atomic():
        submission = locked(submission_id)
        standing.require(submission.organisation, by)
        given = {"given": True, "withdrawn": False}[consent]
        if submission.publication_consent != given:
            submission.publication_consent = given
            submission.save(update_fields=["publication_consent"])
            event = events.PublicationConsentChanged(subject=submission.id, consent=int(given))
            log.append(event, by=by)
    return submission


def refund(submission: Submission, *, cause: str, by: Actor, reason: str) -> Slot:
    """Staff or a ruling returns one counted use, with words that the vendor reads; the cooldown stays as it is.

    Raises Refused: refund_not_possible where it was returned already, so a return never exceeds the limit, or where
    it is only reserved: a submission that still needs its use is cancelled instead, and gets it back by that.
    """
    if not reason.strip():
        raise ValueError("a return needs a reason in words")
    with transaction.atomic():
        row = locked(submission.pk)
        if Slot.objects.get(submission=submission).state != Slot.State.CONSUMED:
            raise refuse(Code.REFUND_NOT_POSSIBLE)
        slot = slots.give_back(submission, cause=cause, by=by, reason=reason.strip())
        telling.tell_refund(row, cause=cause, reason=reason.strip())
        return slot
