"""The same request under the same key gets the same answer, and happens once."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import connection, transaction

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
        taken = _take(place, digest)
        if isinstance(taken, IdempotencyRecord):
            return _replay(taken, digest)
        status, answer = act()
        answer = _ordered(answer)
        IdempotencyRecord.objects.filter(pk=taken).update(status=status, answer=answer)
    return Answer(status, answer)


def _take(place: Mapping[str, Any], digest: str) -> UUID | IdempotencyRecord:
    """The id of the key's new record, or the record by which somebody took the key within the last 30 days."""
    now = clock.now()
    fresh = IdempotencyRecord(**place, body_digest=digest, status=None, created_at=now)
    if _inserted(fresh):
        return fresh.pk
    found = IdempotencyRecord.objects.select_for_update().get(**place)
    if found.created_at > now - KEPT:
        return found
    # Forgotten after its time. Who comes at the same moment waited for this row, and finds the fresh one.
    IdempotencyRecord.objects.filter(pk=found.pk).update(
        body_digest=digest, status=None, answer={}, created_at=now
    )
    return found.pk


def _inserted(record: IdempotencyRecord) -> bool:
    """Whether the key was free; who takes it at the same moment is waited for."""
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO submissions_idempotencyrecord "
            "(id, organisation_id, route, key, body_digest, answer, created_at) "
            "VALUES (%s, %s, %s, %s, %s, '{}', %s) ON CONFLICT DO NOTHING",
            [
                record.pk,
                record.organisation_id,
                record.route,
                record.key,
                record.body_digest,
                record.created_at,
            ],
        )
        return cursor.rowcount == 1


def _replay(record: IdempotencyRecord, digest: str) -> Answer:
    if record.body_digest != digest or record.status is None:
        raise refuse(Code.IDEMPOTENCY_CONFLICT)
    return Answer(record.status, _ordered(record.answer), replayed=True)


def _ordered(value: Any) -> Any:
    """Keys in order, so that a repeated answer is the same to the byte; the database keeps no order of its own."""
    if isinstance(value, dict):
        return {name: _ordered(value[name]) for name in sorted(value)}
    return [_ordered(item) for item in value] if isinstance(value, list) else value
