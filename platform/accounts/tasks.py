"""Celery entry points of accounts."""

from __future__ import annotations

from celery import shared_task

from accounts.notices import delivery


@shared_task(name="accounts.tasks.deliver_mail")
def deliver_mail() -> None:
    """Send the mail of notices that is due (queue `web`: it needs the people and no key of a task or package)."""
    delivery.deliver_due()
