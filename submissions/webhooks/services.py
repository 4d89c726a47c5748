"""Every change of webhooks and their messages. Messages are written in the transaction of what they tell."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.db import transaction

from accounts import names
from accounts.models import Organisation
from audit import log
from audit.events import Actor
from audit.texts import concealed
from config import addresses, clock
from config.ids import new_id
from submissions import events, tickets
from submissions.models import Submission, WebhookDelivery, WebhookEndpoint
from submissions.problems import Code, refuse
from submissions.webhooks import sending
from submissions.webhooks.kinds import MOST, Kind

TASK = "submissions.tasks.deliver_webhooks"


@dataclass(frozen=True)
class News:
    """What there is to tell: `occasion` tells several messages of a kind about one subject apart."""

    kind: Kind
    subject: str
    occasion: str
    data: Mapping[str, object]
    at: datetime


def create(
    organisation: Organisation, *, url: str, kinds: Collection[str], by: Actor
) -> tuple[WebhookEndpoint, str]:
    """A new webhook and its secret, which is shown this once. Raises Refused: webhook_address, webhook_limit."""
    try:
        addresses.place(url, sending.rules())
    except addresses.AddressRefused as refused:
        raise refuse(Code.WEBHOOK_ADDRESS, why=refused.reason.value) from None
    secret, key = sending.new_secret(), names.new_key()
    with transaction.atomic():
        Organisation.objects.select_for_update().get(pk=organisation.pk)
        if WebhookEndpoint.objects.filter(organisation=organisation, removed_at=None).count() >= MOST:
            raise refuse(Code.WEBHOOK_LIMIT, limit=MOST)
        row = WebhookEndpoint.objects.create(
            organisation=organisation,
            url=url,
            kinds=sorted(set(kinds)),
            sealed_secret=names.seal(secret, key),
            wrapped_key=key,
            created_at=clock.now(),
        )
        event = events.WebhookCreated(
            subject=row.id, owner=str(organisation.id), kinds=row.kinds, address=concealed(url)
        )
        log.append(event, by=by)
    return row, secret


def remove(endpoint: WebhookEndpoint, *, by: Actor) -> None:
    """Nothing is sent any more; its address, secret and messages are gone. Again changes nothing."""
    with transaction.atomic():
        row = WebhookEndpoint.objects.select_for_update(no_key=True).get(pk=endpoint.pk)
        if row.removed_at is None:
            row.removed_at, row.url = clock.now(), ""
            row.sealed_secret = row.wrapped_key = b""
            row.save()
            row.deliveries.all().delete()
            log.append(events.WebhookRemoved(subject=row.id), by=by)


def switch_off(row: WebhookEndpoint, *, by: Actor) -> None:
    """A locked one whose address has accepted nothing for days; what waits for it is given up."""
    row.disabled_at = clock.now()
    row.save(update_fields=["disabled_at"])
    row.deliveries.update(due_at=None)
    log.append(events.WebhookDisabled(subject=row.id), by=by)


def switch_on(endpoint: WebhookEndpoint, *, by: Actor) -> None:
    with transaction.atomic():
        row = WebhookEndpoint.objects.select_for_update(no_key=True).get(pk=endpoint.pk, removed_at=None)
        if row.disabled_at is not None:
            row.disabled_at = row.failing_since = None
            row.save(update_fields=["disabled_at", "failing_since"])
            log.append(events.WebhookEnabled(subject=row.id), by=by)


def test(endpoint: WebhookEndpoint) -> WebhookDelivery:
    """Send a message that says nothing. Raises Refused: webhook_off."""
    with transaction.atomic():
        row = _live(endpoint)
        news = News(Kind.TEST, "test", new_id().hex, {"webhook": str(row.id)}, clock.now())
        delivery = _message(row, news)
        delivery.save()
        tickets.send(TASK)
    return delivery


def replay(delivery: WebhookDelivery) -> None:
    """Send a message again, under its id and with its body as it was. Raises Refused: webhook_off."""
    with transaction.atomic():
        _live(delivery.endpoint)
        row = WebhookDelivery.objects.select_for_update().get(pk=delivery.pk)
        row.due_at, row.attempts = clock.now(), 0
        row.save(update_fields=["due_at", "attempts"])
        tickets.send(TASK)


def enqueue_move(submission: Submission, *, at: datetime | None = None) -> None:
    """Messages about the state that a submission has just come to, or whose deadline was moved `at` that instant.

    Call it in the transaction of the move.
    """
    data = _of_submission(submission)
    at = at or submission.state_since
    kinds = [Kind.PREFLIGHT_STATE if submission.is_preflight else Kind.SUBMISSION_STATE]
    if submission.state in ("complete", "incomplete"):
        kinds.append(Kind.SUBMISSION_RELEASED)
    for kind in kinds:
        enqueue(submission.organisation, News(kind, str(submission.id), at.isoformat(), data, at))


def enqueue(organisation: Organisation, news: News) -> None:
    """One message for each live webhook that wants this kind; the same subject and occasion again adds none."""
    live = WebhookEndpoint.objects.filter(
        organisation=organisation, removed_at=None, disabled_at=None, kinds__contains=news.kind.value
    )
    messages = [_message(row, news) for row in live.only("id")]
    if messages:
        WebhookDelivery.objects.bulk_create(messages, ignore_conflicts=True)
        tickets.send(TASK)


def _live(endpoint: WebhookEndpoint) -> WebhookEndpoint:
    row = WebhookEndpoint.objects.get(pk=endpoint.pk)
    if row.removed_at is not None or row.disabled_at is not None:
        raise refuse(Code.WEBHOOK_OFF)
    return row


def _message(row: WebhookEndpoint, news: News) -> WebhookDelivery:
    identity = new_id()
    body = {
        "id": str(identity),
        "type": news.kind.value,
        "created": news.at.isoformat(),
        "data": dict(news.data),
    }
    return WebhookDelivery(
        id=identity,
        endpoint=row,
        kind=news.kind.value,
        subject=news.subject,
        occasion=news.occasion,
        body=json.dumps(body, ensure_ascii=False, separators=(",", ":")),
        created_at=clock.now(),
        due_at=clock.now(),
    )


def _of_submission(submission: Submission) -> dict[str, object]:
    """Ids, the coarse state and where to read more; never a value."""
    return {
        "preflight" if submission.is_preflight else "submission": str(submission.id),
        "harness": str(submission.harness_version.harness_id),
        "harness_version": str(submission.harness_version_id),
        "task_set": submission.task_set.label,
        "state": submission.state,
        "code": submission.reason_code,
        "url": f"{settings.SITE_URL}{submission.address}",
    }
