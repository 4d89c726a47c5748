"""Celery's entry points: ids in, a service called. Every one of them may be delivered twice, late or not at all."""

from __future__ import annotations

from uuid import UUID

from celery import shared_task

from submissions import services


@shared_task(name="submissions.tasks.check")
def check(submission_id: str) -> None:
    """Check the package of a submission (queue `governance`: it takes the worker key)."""
    services.check(UUID(submission_id))


@shared_task(name="submissions.tasks.advance")
def advance(submission_id: str) -> None:
    """Make the next move of a submission that is due (queue `governance`)."""
    services.advance(UUID(submission_id))


@shared_task(name="submissions.tasks.advance_run")
def advance_run(run_id: str) -> None:
    """An evaluation run has changed its state: advance whoever asked for it (queue `governance`)."""
    services.advance_run(UUID(run_id))


@shared_task(name="submissions.tasks.sweep")
def sweep() -> None:
    """Find what lost tickets left lying (queue `governance`)."""
    services.sweep()
