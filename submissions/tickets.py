"""Telling workers that there may be work: on commit only, and never at the cost of a request."""

from __future__ import annotations

from uuid import UUID

from django.db import transaction

QUEUES = {
    "submissions.tasks.check": "governance",
    "submissions.tasks.advance": "governance",
    "submissions.tasks.advance_run": "governance",
    "submissions.tasks.sweep": "governance",
    "evaluation.tasks.try_upstream": "governance",
    "submissions.tasks.lend_key": "governance",
    "submissions.tasks.deliver_webhooks": "web",
}


def send(name: str, *ids: UUID | str) -> None:
    """Send task `name` its ids once the present transaction is committed; after a rollback nothing is sent.

    A broker that is out of reach costs at most two seconds and no error: the sweep finds the row.
    """
    queue = QUEUES[name]
    arguments = [str(identifier) for identifier in ids]
    transaction.on_commit(lambda: _send(name, arguments, queue), robust=True)


def _send(name: str, arguments: list[str], queue: str) -> None:
    from config.celery import send_ticket

    send_ticket(name, *arguments, queue=queue)
