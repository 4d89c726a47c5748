"""Webhooks as their organisation sees them. Raises NotVisible for another's and for what is gone."""

from __future__ import annotations

from uuid import UUID

from accounts.models import Organisation
from submissions.models import WebhookDelivery, WebhookEndpoint
from submissions.queries.registry import NotVisible

LATEST = 50


def webhooks_of(organisation: Organisation) -> list[WebhookEndpoint]:
    return list(WebhookEndpoint.objects.filter(organisation=organisation, removed_at=None).order_by("id"))


def webhook_of(organisation: Organisation, webhook_id: UUID) -> WebhookEndpoint:
    found = WebhookEndpoint.objects.filter(organisation=organisation, removed_at=None, pk=webhook_id).first()
    if found is None:
        raise NotVisible
    return found


def deliveries_of(
    endpoint: WebhookEndpoint, *, limit: int = LATEST, before: UUID | None = None
) -> list[WebhookDelivery]:
    """Newest first."""
    rows = endpoint.deliveries.order_by("-id")
    if before is not None:
        rows = rows.filter(id__lt=before)
    return list(rows[:limit])


def delivery_of(organisation: Organisation, delivery_id: UUID) -> WebhookDelivery:
    found = (
        WebhookDelivery.objects.filter(
            pk=delivery_id, endpoint__organisation=organisation, endpoint__removed_at=None
        )
        .select_related("endpoint")
        .first()
    )
    if found is None:
        raise NotVisible
    return found


def state_of(delivery: WebhookDelivery) -> str:
    """waiting, delivered or failed."""
    if delivery.due_at is not None:
        return "waiting"
    return "delivered" if delivery.delivered_at is not None else "failed"
