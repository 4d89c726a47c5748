"""A confirmed run whose submission was graded again before its values are published is graded again as well.

The first run's values are shown until a dated release; what was wrong with them is wrong with the confirmation run's
too, and must not come back with it.
"""

from __future__ import annotations

from django.db import transaction

from audit import log
from audit.events import Actor
from config import clock
from evaluation.models import EvaluationRun
from governance.confirmation.models import ConfirmationRun
from governance.correcting import events
from governance.correcting.models import Regrading


def follow(row: ConfirmationRun, *, by: Actor) -> bool:
    """Whether a confirmed run still has to be graded again before it is published; ordered here where it was not.

    The two people who had the submission graded again stand behind that too. Repeats change nothing more.
    """
    with transaction.atomic():
        held = ConfirmationRun.objects.select_for_update(of=("self",)).get(pk=row.pk)
        is_waiting = held.state == ConfirmationRun.State.CONFIRMED and held.release_date_id is None
        if not is_waiting or held.run is None:
            return False
        orders = list(Regrading.objects.filter(submission=held.submission_id).order_by("ordered_at", "id"))
        if any(order.done_at is None for order in orders):
            return True
        own = {(order.cause, order.reference) for order in orders if order.run_id == held.run_id}
        due = [order for order in orders if (order.cause, order.reference) not in own]
        if due:
            _order(held, held.run, due[0], by=by)
        return bool(due)


def _order(row: ConfirmationRun, run: EvaluationRun, first: Regrading, *, by: Actor) -> None:
    made = Regrading.objects.create(
        submission_id=row.submission_id,
        run=run,
        cause=first.cause,
        reference=first.reference,
        ordered_by_id=first.ordered_by_id,
        approved_by_id=first.approved_by_id,
        ordered_at=clock.now(),
    )
    event = events.RegradingOrdered(
        subject=made.id,
        submission=str(row.submission_id),
        cause=made.cause,
        reference=made.reference,
        people=[str(first.ordered_by_id), str(first.approved_by_id)],
    )
    log.append(event, by=by)
