"""Sending what is due, by whichever worker takes its row first; the row is locked while it is sent.

A worker that dies leaves it due, so a message may come twice; its id tells. An address that fails holds up its own
messages only: all that wait for it wait as long.
"""

from __future__ import annotations

import logging
from datetime import datetime

from django.db import transaction
from django.db.models import F
from django.db.models.functions import Greatest

from accounts import names
from accounts.models import ApiToken, Membership
from accounts.notices.kinds import Kind as NoticeKind
from accounts.notices.services import notify_organisation
from audit.events import system
from config import clock
from submissions.models import WebhookDelivery, WebhookEndpoint
from submissions.webhooks import sending, services
from submissions.webhooks.kinds import KEPT, PATIENCE, PAUSES, WARNINGS, Fault, Kind

logger = logging.getLogger(__name__)
BATCH = 50
"""Most messages of one tick."""
BY = system("webhooks")


def deliver_due(limit: int = BATCH) -> int:
    """Send what is due; returns how many were accepted."""
    accepted = 0
    for _ in range(limit):
        done = _deliver_next()
        if done is None:
            break
        accepted += done
    return accepted


def forget_old() -> None:
    """Messages that are done with are kept for `KEPT`."""
    WebhookDelivery.objects.filter(due_at=None, created_at__lt=clock.now() - KEPT).delete()


def warn_of_tokens() -> None:
    """Messages about tokens that expire soon, once each for 14 and for 3 days before."""
    now = clock.now()
    soon = ApiToken.objects.filter(
        revoked_at=None,
        expiry__gt=now,
        expiry__lte=now + max(WARNINGS.values()),
        organisation__webhooks__removed_at=None,
        organisation__webhooks__disabled_at=None,
        organisation__webhooks__kinds__contains=Kind.TOKEN_EXPIRING.value,
    )
    for token in soon.select_related("organisation").distinct():
        assert token.expiry is not None
        occasion = "3" if token.expiry <= now + WARNINGS["3"] else "14"
        data = {"token": str(token.public_id), "expires": token.expiry.isoformat()}
        news = services.News(Kind.TOKEN_EXPIRING, str(token.public_id), occasion, data, now)
        services.enqueue(token.organisation, news)


def _deliver_next() -> bool | None:
    """Whether the next due message was accepted; None where none is due."""
    with transaction.atomic():
        due = WebhookDelivery.objects.filter(due_at__lte=clock.now()).order_by("due_at")
        # One message at a time for each webhook; new ones may be written meanwhile (no_key).
        free = due.select_for_update(skip_locked=True, no_key=True, of=("self", "endpoint"))
        row = free.select_related("endpoint").first()
        if row is None:
            return None
        endpoint = row.endpoint
        if endpoint.removed_at is not None or endpoint.disabled_at is not None:
            row.due_at = None
            row.save(update_fields=["due_at"])
            return False
        secret = names.open_sealed(endpoint.sealed_secret, endpoint.wrapped_key)
        at = clock.now()
        found = sending.send(endpoint.url, row.body, secret=secret, at=int(at.timestamp()))
        accepted = not isinstance(found, Fault) and 200 <= found < 300
        _note(row, found, at, accepted=accepted)
        if accepted:
            _works(endpoint)
        else:
            logger.info("webhook delivery %s not accepted: %s", row.pk, found)
            _fails(endpoint, row, at)
    return accepted


def _note(row: WebhookDelivery, found: int | Fault, at: datetime, *, accepted: bool) -> None:
    pauses = PAUSES[row.attempts : row.attempts + 1]
    row.attempts += 1
    row.last_at = at
    if isinstance(found, Fault):
        row.last_status, row.last_fault = None, found.value
    else:
        row.last_status, row.last_fault = found, ""
    row.due_at = None if accepted or not pauses else at + pauses[0]
    row.delivered_at = at if accepted else row.delivered_at
    row.save()


def _works(endpoint: WebhookEndpoint) -> None:
    if endpoint.failing_since is not None:
        endpoint.failing_since = None
        endpoint.save(update_fields=["failing_since"])


def _fails(endpoint: WebhookEndpoint, row: WebhookDelivery, at: datetime) -> None:
    """What else waits for this address waits as long; after days of failure it is switched off, and owners told."""
    waits_until = at + PAUSES[0]
    endpoint.deliveries.filter(due_at__lt=waits_until).exclude(pk=row.pk).update(
        due_at=Greatest(F("due_at"), waits_until)
    )
    if endpoint.failing_since is None:
        endpoint.failing_since = at
        endpoint.save(update_fields=["failing_since"])
    elif endpoint.disabled_at is None and at - endpoint.failing_since >= PATIENCE:
        services.switch_off(endpoint, by=BY)
        notify_organisation(
            endpoint.organisation,
            NoticeKind.WEBHOOK_DISABLED,
            subject=endpoint.id,
            facts={"webhook": str(endpoint.id)},
            roles=[Membership.Role.OWNER],
            occasion=at.isoformat(),
        )
