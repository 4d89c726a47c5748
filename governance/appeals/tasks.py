"""The tick of appeals: late ones go on, rulings are carried out, whoever has the turn is told."""

from __future__ import annotations

from uuid import UUID

import structlog
from celery import shared_task

from audit.events import system
from config import clock
from config.stepwise import Steps
from evaluation.executing import OUR_FAULTS
from governance.appeals import queries, services, telling

logger = structlog.get_logger(__name__)


@shared_task(name="governance.appeals.tasks.tick")
def tick() -> None:
    """Every part repeats harmlessly, and what fails for one appeal keeps no other waiting."""
    steps = Steps()
    for which in queries.due_appeals(now=clock.now()):
        with steps.each("late appeal", which):
            services.escalate(which, by=system("appeals"))
    for which in queries.open_rechecks():
        with steps.each("blind re-check", which):
            _recheck(which)
    for which in queries.ruled_appeals():
        with steps.each("ruling", which):
            services.carry_out(which, by=system("appeals"))
    for appeal in queries.open_appeals():
        with steps.each("turn", appeal.id):
            telling.tell_turn(appeal)
            telling.tell_judges(appeal)
    steps.end()


def _recheck(which: UUID) -> None:
    try:
        services.advance_recheck(which, by=system("appeals"))
    except OUR_FAULTS:  # the store or a key: nothing was drawn, and the next tick tries again
        logger.exception("a blind re-check waits", appeal=str(which))
