"""Celery entry points of governance."""

from __future__ import annotations

from celery import shared_task

from audit.events import system
from governance import queries, services


@shared_task(name="governance.tasks.tick")
def tick() -> None:
    """Release what is due at this tick."""
    for submission in queries.due_for_release():
        services.release_result(submission, by=system("release"))
