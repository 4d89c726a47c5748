"""Writing to the audit log: one INSERT inside the caller's transaction, of bytes that never change again."""

from __future__ import annotations

import secrets

from django.db import connection

from audit.canonical import canonical_bytes, timestamp
from audit.events import Actor, Event
from config import clock

NONCE_BYTES = 16


class OutsideTransaction(RuntimeError):
    """An event must share the transaction of the change it records."""


def entry(event: Event, *, by: Actor) -> bytes:
    """The exact bytes that would be recorded now, another 16 random bytes in them each time.

    With those a leaf of few possible contents cannot be guessed. Raises NotCanonical where the facts have no
    canonical form.
    """
    return canonical_bytes(
        {
            "actor": by.body(),
            "data": event.facts(),
            "kind": event.kind,
            "nonce": secrets.token_hex(NONCE_BYTES),
            "outcome": event.outcome,
            "schema": "event/1",
            "subject": {"id": str(event.subject), "type": event.subject_type},
            "time": timestamp(clock.now()),
            "version": event.version,
        }
    )


def append(event: Event, *, by: Actor) -> int:
    """Record `event` as done by `by`; returns its id.

    Refused outside `transaction.atomic()` with OutsideTransaction, and with NotCanonical where the facts have no
    canonical form.
    """
    if not connection.in_atomic_block:
        raise OutsideTransaction(event.kind)
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO audit_event (body) VALUES (%s) RETURNING id", [entry(event, by=by)])
        (identifier,) = cursor.fetchone()
    return int(identifier)
