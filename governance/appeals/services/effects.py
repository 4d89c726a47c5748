"""What a ruling orders, carried out by the tick through the services that own it: each once, also after a crash."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from uuid import UUID

from django.db import transaction

from audit import log
from audit.events import Actor
from config import clock
from governance.appeals import events
from governance.appeals.models import Appeal, RuledEffect
from governance.appeals.policies import Cause, Effect, State
from governance.appeals.services.moving import locked, move
from submissions.models import Submission
from submissions.problems import Code, Refused
from submissions.services import refund, slots

DONE = "done"
NOTHING = "nothing_to_do"


def carry_out(which: UUID, *, by: Actor) -> bool:
    """Carry out what is left of a ruling; whether all of it is done now. One transaction for each effect."""
    open_effects = RuledEffect.objects.filter(appeal=which, done_at=None)
    for kind in list(open_effects.order_by("kind").values_list("kind", flat=True)):
        if kind != Effect.LINE:
            _carry_out(which, Effect(kind), by=by)
    _carry_out(which, Effect.LINE, by=by)
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


def _nothing(appeal: Appeal, by: Actor) -> tuple[str, str]:
    return NOTHING, ""


ACTS: Mapping[Effect, Callable[[Appeal, Actor], tuple[str, str]]] = {
    Effect.REFUND: _refund,
    Effect.COOLDOWN: _end_cooldown,
    Effect.LIFT_HOLD: _nothing,
    Effect.REGRADE: _nothing,
    Effect.PROBLEM: _nothing,
    Effect.LINE: _nothing,
}
