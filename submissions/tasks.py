"""Celery's entry points: ids in, a service called. Every one of them may be delivered twice, late or not at all."""

from __future__ import annotations

from uuid import UUID

from celery import shared_task

from audit.events import system
from submissions import services
from submissions.confidentiality import services as confidentiality
from submissions.linking import services as linking
from submissions.relations import services as relations
from submissions.webhooks import delivery


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


@shared_task(name="submissions.tasks.find_links")
def find_links() -> None:
    """Look for accounts that may belong together (queue `governance`)."""
    linking.scan(by=system("linking"))


@shared_task(name="submissions.tasks.follow_upstreams")
def follow_upstreams() -> None:
    """Pause what waits for a model upstream, resume what waited (queue `governance`)."""
    services.follow_upstreams()


@shared_task(name="submissions.tasks.sweep")
def sweep() -> None:
    """Find what lost tickets left lying (queue `governance`)."""
    services.sweep()


@shared_task(name="submissions.tasks.deliver_webhooks")
def deliver_webhooks() -> None:
    """Send the messages to webhooks that are due (queue `web`: it holds the key of their secrets)."""
    delivery.deliver_due()


@shared_task(name="submissions.tasks.look_after_webhooks")
def look_after_webhooks() -> None:
    """Tell webhooks of tokens that expire soon, and forget old messages (queue `web`)."""
    delivery.warn_of_tokens()
    delivery.forget_old()


@shared_task(name="submissions.tasks.tell_owners")
def tell_owners() -> None:
    """Mail the notices to owners that were ordered (queue `web`: it opens their addresses)."""
    relations.send_due_notices(by=system("owner-notices"))


@shared_task(name="submissions.tasks.lend_key")
def lend_key(opening_id: str) -> None:
    """Lend the console the key of a package in an approved case (queue `governance`: it takes the worker key)."""
    confidentiality.lend_key(UUID(opening_id), by=system("packages"))
