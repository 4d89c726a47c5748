"""What a ruling orders, carried out by the tick through the services that own it: each once, also after a crash."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from uuid import UUID

from django.db import transaction

from accounts.duties.refusals import DutyRefused
from accounts.models import User
from audit import log
from audit.events import Actor
from config import clock
from governance.appeals import events
from governance.appeals.models import Appeal, Draft, RuledEffect
from governance.appeals.policies import Cause, Effect, State
from governance.appeals.services.moving import locked, move
from governance.desk import services as desk
from governance.records import services as records
from governance.records.problems import services as problems
from submissions.models import Submission
from submissions.problems import Code, Refused
from submissions.services import refund, slots

DONE = "done"
NOTHING = "nothing_to_do"
BY_HAND = "by_hand"
"""It could not be ordered by the two behind the ruling; the staff see to it."""


def carry_out(which: UUID, *, by: Actor) -> bool:
    """Carry out what is left of a ruling; whether all of it is done now. One transaction for each effect."""
    open_effects = RuledEffect.objects.filter(appeal=which, done_at=None)
    left = set(open_effects.values_list("kind", flat=True))
    for kind in ACTS:
        if kind.value in left:
            _carry_out(which, kind, by=by)
    with transaction.atomic():
        row = locked(which)
        if row.state != State.RULED or RuledEffect.objects.filter(appeal=row, done_at=None).exists():
            return False
        move(row, State.CARRIED_OUT, cause=Cause.EFFECTS_DONE, by=by)
    return True


def _carry_out(which: UUID, kind: Effect, *, by: Actor) -> None:
    """One effect and the note that it is done, together or not at all."""
    with transaction.atomic():
        appeal = locked(which)
        row = RuledEffect.objects.filter(appeal=appeal, kind=kind, done_at=None).first()
        if row is None:
            return
        row.result, row.reference = ACTS[kind](appeal, by)
        row.done_at = clock.now()
        row.save(update_fields=["result", "reference", "done_at"])
        event = events.AppealEffect(
            subject=appeal.id, effect=kind.value, result=row.result, reference=row.reference or None
        )
        log.append(event, by=by)


def _refund(appeal: Appeal, by: Actor) -> tuple[str, str]:
    """The use comes back, unless it did already: by staff, or with a lifted hold."""
    if appeal.submission is None:
        return NOTHING, ""
    try:
        with transaction.atomic():
            slot = refund(
                appeal.submission, cause=Code.REFUND_BY_RULING, by=by, reason=appeal.ruling.text[:500]
            )
    except Refused:
        return NOTHING, ""
    return DONE, str(slot.pk)


def _end_cooldown(appeal: Appeal, by: Actor) -> tuple[str, str]:
    if appeal.submission is None:
        return NOTHING, ""
    row = Submission.objects.select_for_update().get(pk=appeal.submission.pk)
    if row.cooldown_until is None or row.cooldown_ended_at is not None:
        return NOTHING, ""
    slots.lift_cooldown(row, cause=Code.REFUND_BY_RULING, by=by)
    return DONE, str(row.pk)


def _lift_hold(appeal: Appeal, by: Actor) -> tuple[str, str]:
    """The hold ends as a false alarm. One that is over stays as it ended, but it costs nothing either.

    The deadline of a hold may pass, or what is held be voided, while the appeal against it is examined.
    """
    if appeal.submission is None:
        return NOTHING, ""
    try:
        with transaction.atomic():
            hold = desk.lift_as_ruled(appeal.submission, ruling=appeal.id, by=by)
    except Refused:
        made = [_refund(appeal, by), _end_cooldown(appeal, by)]
        return next((found for found in made if found[0] == DONE), (NOTHING, ""))
    return DONE, str(hold.pk)


def _line(appeal: Appeal, by: Actor) -> tuple[str, str]:
    """One public line with subject and outcome; no name stands in it."""
    facts = {"subject": appeal.subject, "outcome": appeal.ruling.outcome}
    row = records.add_line("appeal_outcome", appeal.task_set, facts=facts, by=by)
    return DONE, str(row.pk)


def _regrade(appeal: Appeal, by: Actor) -> tuple[str, str]:
    """Ordered by the two who are behind the ruling; what it gives is a result of its own."""
    people = Draft.objects.filter(appeal=appeal, decision=Draft.Decision.APPROVED)
    found = people.values_list("proposed_by", "decided_by").first()
    if appeal.submission is None or found is None:
        return NOTHING, ""
    proposer, approver = (User.objects.get(pseudonym=person).actor("web") for person in found)
    try:
        with transaction.atomic():
            row = records.regrade_result(
                appeal.submission, cause="ruling", by=proposer, approved_by=approver, reference=str(appeal.id)
            )
    except (Refused, DutyRefused):  # under way already, or the two no longer hold their duties
        return BY_HAND, ""
    return DONE, str(row.pk)


def _problem(appeal: Appeal, by: Actor) -> tuple[str, str]:
    """A defect for the queue; the ruling is its evidence. Which task it is, the staff find."""
    row = problems.report_problem(
        appeal.task_set,
        None,
        source="appeal",
        evidence=appeal.ruling.text,
        by=by,
        reference=str(appeal.id),
    )
    return DONE, str(row.pk)


ACTS: Mapping[Effect, Callable[[Appeal, Actor], tuple[str, str]]] = {
    Effect.LIFT_HOLD: _lift_hold,
    Effect.REFUND: _refund,
    Effect.COOLDOWN: _end_cooldown,
    Effect.REGRADE: _regrade,
    Effect.PROBLEM: _problem,
    Effect.LINE: _line,
}
"""In this order: a lifted hold returns the use by itself, and the public line comes last."""
