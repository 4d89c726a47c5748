"""The tick of appeals: late ones go on, rulings are carried out, whoever has the turn is told."""

from __future__ import annotations

from celery import shared_task

from audit.events import system
from config import clock
from governance.appeals import queries, services, telling


@shared_task(name="governance.appeals.tasks.tick")
def tick() -> None:
    """Every part repeats harmlessly."""
    for which in queries.due_appeals(now=clock.now()):
        services.escalate(which, by=system("appeals"))
    for which in queries.ruled_appeals():
        services.carry_out(which, by=system("appeals"))
    for appeal in queries.open_appeals():
        telling.tell_turn(appeal)
