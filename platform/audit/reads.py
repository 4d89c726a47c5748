"""Reads as events: each delivery before its body is sent, status polling condensed, refused reads never unseen.

What changes nothing is counted in `audit_read_tally`, one row for each reader and thing, by one statement a read.
"""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

from django.db import connection, transaction

from audit import log
from audit.canonical import timestamp
from audit.events import Actor, Event
from audit.models import ReadTally
from audit.read_events import ReadRefused, RefusalsCounted
from audit.texts import concealed
from config import clock

WINDOW = timedelta(minutes=15)
"""Unchanged reads within one of these are one event."""
HOUR = timedelta(hours=1)
ALL_OF_AN_HOUR = 20
"""So many refused reads of a reader have an event each, in every hour …"""
ONE_IN = 50
"""… and then one in so many, with the running count."""
REFUSED = "refused"

# The usual read of polling: nothing new, the window still open. One trip to the database, and no transaction around.
AGAIN = """
UPDATE audit_read_tally SET count = count + 1
 WHERE actor_id = %(actor_id)s AND organisation_id = %(organisation)s AND surface = %(surface)s
   AND subject_type = %(subject_type)s AND subject_id = %(subject_id)s
   AND begins_at = %(begins_at)s AND representation = %(representation)s
"""

# One statement, so that of any number at a time each is counted once and exactly one sees a change. Of two requests
# around the end of a window the later window stays.
COUNT = """
INSERT INTO audit_read_tally AS tally (actor_kind, actor_id, organisation_id, channel, surface, subject_type,
  subject_id, begins_at, count, representation)
VALUES (%(actor_kind)s, %(actor_id)s, %(organisation)s, %(channel)s, %(surface)s, %(subject_type)s, %(subject_id)s,
  %(begins_at)s, %(first)s, %(representation)s)
ON CONFLICT (actor_id, organisation_id, surface, subject_type, subject_id) DO UPDATE SET
  channel = EXCLUDED.channel,
  begins_at = greatest(tally.begins_at, EXCLUDED.begins_at),
  count = CASE WHEN tally.begins_at < EXCLUDED.begins_at THEN 0 ELSE tally.count END
        + CASE WHEN tally.representation = EXCLUDED.representation THEN 1 ELSE 0 END,
  representation = EXCLUDED.representation
RETURNING old.begins_at, old.count, old.representation, new.begins_at, new.count
"""


class _Counted(NamedTuple):
    """A tally before and after one read; None where there was none before."""

    old_begins_at: datetime | None
    old_count: int | None
    old_representation: bytes | None
    begins_at: datetime
    counted: int


def record(
    kind: str, subject: UUID | str, form: str, *, surface: str, by: Actor, precision: str = ""
) -> None:
    """Record that `form` is about to be delivered, as an event `<kind>.read` about `subject`.

    Raises KeyError for a kind that no app declares, and what the database raises: nothing may be sent then.
    """
    facts = {"representation": concealed(form), "surface": surface}
    if precision:
        facts["precision"] = precision
    with transaction.atomic():
        log.append(Event.registry[f"{kind}.read"](subject=subject, **facts), by=by)


def poll(subject_type: str, subject: UUID | str, form: str, *, surface: str, by: Actor) -> None:
    """Record that a state is about to be shown: an event if it is new to this reader, else one more in the count.

    `subject_type` is submission, organisation or console. Raises what the database raises: nothing may be sent then.
    """
    digest = hashlib.sha256(form.encode()).digest()
    values = _values(by, surface, (subject_type, str(subject)), _begin(clock.now(), WINDOW), digest)
    with connection.cursor() as cursor:
        cursor.execute(AGAIN, values)
        if cursor.rowcount == 1:
            return
    with transaction.atomic():
        found = _count(values, first=0)
        if found.old_begins_at and found.old_begins_at < found.begins_at and found.old_count:
            _summarise(by, surface, (subject_type, str(subject)), found.old_begins_at, found.old_count)
        if found.old_representation != digest:
            change = "first" if found.old_representation is None else "changed"
            facts = {"representation": concealed(form), "surface": surface, "change": change}
            log.append(Event.registry[f"{subject_type}.status_read"](subject=subject, **facts), by=by)


def refused(asked: str, *, surface: str, method: str, by: Actor) -> None:
    """Record that `asked`, an id at the address called `surface`, was not given out; whether it exists is not asked.

    Raises what the database raises: the answer must not go out unrecorded.
    """
    begins_at = _begin(clock.now(), HOUR)
    with transaction.atomic():
        found = _count(_values(by, REFUSED, ("reader", by.id), begins_at, b""), first=1)
        if found.old_begins_at and found.old_begins_at < found.begins_at and found.old_count:
            _total(by, found.old_begins_at, found.old_count)
        if found.counted <= ALL_OF_AN_HOUR or found.counted % ONE_IN == 0:
            event = ReadRefused(
                subject=hashlib.sha256(f"{surface}\0{asked}".encode()).hexdigest(),
                surface=surface,
                method=method,
                count=found.counted,
                since=timestamp(found.begins_at),
            )
            log.append(event, by=by)


def close_windows() -> int:
    """Turn the counts of windows that are over into events; returns how many rows were closed. May run twice."""
    now = clock.now()
    with transaction.atomic():
        rows = ReadTally.objects.select_for_update(skip_locked=True).filter(count__gt=0)
        over = rows.exclude(surface=REFUSED).filter(begins_at__lt=_begin(now, WINDOW))
        hours = rows.filter(surface=REFUSED, begins_at__lt=_begin(now, HOUR))
        closed = [*over, *hours]
        for row in closed:
            by = _reader(row)
            if row.surface == REFUSED:
                _total(by, row.begins_at, row.count)
            else:
                _summarise(by, row.surface, (row.subject_type, row.subject_id), row.begins_at, row.count)
        ReadTally.objects.filter(pk__in=[row.pk for row in closed]).update(count=0)
    return len(closed)


def _begin(at: datetime, window: timedelta) -> datetime:
    """The beginning of the window that `at` is in: whole multiples since the Unix epoch."""
    seconds = int(window.total_seconds())
    return datetime.fromtimestamp(int(at.timestamp()) // seconds * seconds, UTC)


def _values(
    by: Actor, surface: str, subject: tuple[str, str], begins_at: datetime, representation: bytes
) -> dict[str, Any]:
    return {
        "actor_kind": by.kind,
        "actor_id": by.id,
        "organisation": by.organisation,
        "channel": by.channel,
        "surface": surface,
        "subject_type": subject[0],
        "subject_id": subject[1],
        "begins_at": begins_at,
        "representation": representation,
    }


def _count(values: dict[str, Any], *, first: int) -> _Counted:
    """Count one read; `first` is the count with which a row begins."""
    with connection.cursor() as cursor:
        cursor.execute(COUNT, {**values, "first": first})
        begun, count, digest, begins, counted = cursor.fetchone()
    return _Counted(begun, count, None if digest is None else bytes(digest), begins, counted)


def _summarise(by: Actor, surface: str, subject: tuple[str, str], since: datetime, count: int) -> None:
    kind = Event.registry[f"{subject[0]}.status_polled"]
    facts: dict[str, Any] = {"surface": surface, "count": count, "since": timestamp(since)}
    log.append(kind(subject=subject[1], **facts), by=by)


def _total(by: Actor, since: datetime, count: int) -> None:
    """An hour's refused reads; up to 20 of them have their own events, and need no sum."""
    if count > ALL_OF_AN_HOUR:
        log.append(RefusalsCounted(subject=by.id, count=count, since=timestamp(since)), by=by)


def _reader(row: ReadTally) -> Actor:
    return Actor.model_validate(
        {
            "kind": row.actor_kind,
            "id": row.actor_id,
            "organisation": row.organisation_id,
            "channel": row.channel,
        }
    )
