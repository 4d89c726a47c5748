"""The same request under the same key gets the same answer, and happens once."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db import transaction

from accounts.models import Organisation
from config import clock
from submissions.cards import canonical_json
from submissions.models import IdempotencyRecord
from submissions.problems import Code, refuse

KEPT = timedelta(days=30)
KEY_PATTERN = re.compile(r"[\x21-\x7e]{1,255}\Z")


@dataclass(frozen=True)
class Answer:
    """What is answered: an HTTP status and a JSON object; `replayed` if it was given before."""

    status: int
    body: dict[str, Any]
    replayed: bool = False


def is_known(organisation: Organisation, route: str, key: str) -> bool:
    """Whether a request under this key was answered already, or needs to be refused for its key."""
    if not KEY_PATTERN.match(key):
        return True
    place = {"organisation": organisation, "route": route, "key": key}
    return IdempotencyRecord.objects.filter(**place, created_at__gt=clock.now() - KEPT).exists()


def once(
    organisation: Organisation,
    route: str,
    key: str,
    body: Mapping[str, object],
    act: Callable[[], tuple[int, dict[str, Any]]],
) -> Answer:
    """Run `act` in a transaction and keep its answer under (organisation, route, key) for 30 days.

    A request that arrives while the first one is at work waits for it on the unique key and gets its answer. If `act`
    refuses, nothing is kept, so the key may be used again. Raises Refused: idempotency_key_required, and
    idempotency_conflict where the key belongs to another body.
    """
    if not KEY_PATTERN.match(key):
        raise refuse(Code.IDEMPOTENCY_KEY_REQUIRED)
    digest = hashlib.sha256(canonical_json(body)).hexdigest()
    place = {"organisation": organisation, "route": route, "key": key}
    with transaction.atomic():
        now = clock.now()
        IdempotencyRecord.objects.filter(**place, created_at__lte=now - KEPT).delete()
        fresh = IdempotencyRecord(**place, body_digest=digest, status=None, created_at=now)
        IdempotencyRecord.objects.bulk_create([fresh], ignore_conflicts=True)
        record = IdempotencyRecord.objects.get(**place)
        if record.pk != fresh.pk:
            return _replay(record, digest)
        status, answer = act()
        answer = _ordered(answer)
        IdempotencyRecord.objects.filter(pk=record.pk).update(status=status, answer=answer)
    return Answer(status, answer)


def _replay(record: IdempotencyRecord, digest: str) -> Answer:
    if record.body_digest != digest or record.status is None:
        raise refuse(Code.IDEMPOTENCY_CONFLICT)
    return Answer(record.status, _ordered(record.answer), replayed=True)


def _ordered(value: Any) -> Any:
    """Keys in order, so that a repeated answer is the same to the byte; the database keeps no order of its own."""
    if isinstance(value, dict):
        return {name: _ordered(value[name]) for name in sorted(value)}
    return [_ordered(item) for item in value] if isinstance(value, list) else value
