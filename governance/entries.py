"""Entries of the log that sealed work reads again, with their proofs; the database gives out three kinds only."""

from __future__ import annotations

import json
from typing import Any, NamedTuple
from uuid import UUID

from django.db import connection

from audit import queries


class NotInLogYet(LookupError):
    """There is no such event, or it has no place in a signed tree yet: a matter of seconds."""


class Entry(NamedTuple):
    """An event's exact bytes and its place in the log, None while it waits for one."""

    position: int | None
    body: bytes

    def facts(self) -> dict[str, Any]:
        """What the event says."""
        found: dict[str, Any] = json.loads(self.body)["data"]
        return found


def entries(kind: str, subject: UUID) -> list[Entry]:
    """All events of `kind` about `subject`: result.released, regrading.committed or task_set.frozen; else none."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT entry_position, body FROM governance_sealed_entry(%s, %s)", [kind, str(subject)]
        )
        return [Entry(position, bytes(body)) for position, body in cursor.fetchall()]


def placed(kind: str, subject: UUID) -> tuple[int, Entry]:
    """The one event of that kind, and its place. Raises NotInLogYet."""
    found = next(iter(entries(kind, subject)), None)
    if found is None or found.position is None:
        raise NotInLogYet(f"{kind} of {subject} has no place in the log yet")
    return found.position, found


def proof(kind: str, subject: UUID) -> str:
    """A tlog-proof that carries the entry, against the first checkpoint that covers it. Raises NotInLogYet."""
    position, entry = placed(kind, subject)
    try:
        found, _ = queries.proved(position, entry.body)
    except queries.NotInLog as error:
        raise NotInLogYet(f"{kind} of {subject} is in no signed tree yet") from error
    return found.format()
