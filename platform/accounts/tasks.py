"""Celery entry points of accounts."""

from __future__ import annotations

from celery import shared_task

from accounts.duties import services as duties
from accounts.notices import delivery
from accounts.registration import watching
from accounts.tokens import services as tokens


@shared_task(name="accounts.tasks.deliver_mail")
def deliver_mail() -> None:
    """Send the mail of notices that is due (queue `web`: it needs the people and no key of a task or package)."""
    delivery.deliver_due()


@shared_task(name="accounts.tasks.remind_of_duties")
def remind_of_duties() -> None:
    """Tell whose duty ends soon (queue `governance`: its role may read duties)."""
    duties.remind()


@shared_task(name="accounts.tasks.watch_registrations")
def watch_registrations() -> None:
    """Raise the alarm about overdue answers, remind of verifications that expire (queue `governance`)."""
    watching.watch()


@shared_task(name="accounts.tasks.revoke_leaked")
def revoke_leaked() -> None:
    """Look at the tokens that were reported as leaked (queue `web`, whose role may change tokens)."""
    tokens.revoke_leaked()


@shared_task(name="accounts.tasks.announce_token_ends")
def announce_token_ends() -> None:
    """Tell the holders of tokens that end soon or have ended (queue `web`)."""
    tokens.announce_ends()
