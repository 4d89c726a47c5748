"""What auditors look up in the log: events by filter, one event with its place and proof, checkpoints with cosigners.

Everything is read as the auditor's role, through its own database alias; nothing here writes.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from django.db.models import QuerySet

from audit import queries
from audit.merkle.proof import Proof
from audit.models import Checkpoint, Cosignature, Entry, EventRecord, Withholding

AUDITOR = "auditor"
"""The database alias under which every transaction is read-only."""
PAGE = 50
LARGEST_ID = 2**63 - 1


def _withheld() -> QuerySet[Entry, int]:
    """The ids of withheld events."""
    positions = Withholding.objects.using(AUDITOR).values("position")
    return Entry.objects.using(AUDITOR).filter(position__in=positions).values_list("event_id", flat=True)


@dataclass(frozen=True)
class Filter:
    """What to show; empty fields do not restrict. `since` is included, `until` is not; `without` is a kind left out."""

    since: datetime | None = None
    until: datetime | None = None
    actor: str = ""
    actor_kind: str = ""
    organisation: str = ""
    kind: str = ""
    subject_type: str = ""
    subject_id: str = ""
    outcome: str = ""
    channel: str = ""
    without: str = ""

    def rows(self) -> QuerySet[EventRecord]:
        """The events that pass, in no order. A kind that ends in a dot stands for all that begin with it."""
        columns = {
            "actor_id": self.actor,
            "actor_kind": self.actor_kind,
            "organisation_id": self.organisation,
            "subject_type": self.subject_type,
            "subject_id": self.subject_id,
            "outcome": self.outcome,
            "channel": self.channel,
        }
        wanted: dict[str, Any] = {name: value for name, value in columns.items() if value}
        if self.kind:
            wanted["kind__startswith" if self.kind.endswith(".") else "kind"] = self.kind
        if self.since:
            wanted["recorded_at__gte"] = self.since
        if self.until:
            wanted["recorded_at__lt"] = self.until
        rows = EventRecord.objects.using(AUDITOR).filter(**wanted)
        if self.without:
            rows = rows.exclude(kind=self.without)
        return rows.exclude(id__in=_withheld()) if self._asks_for_content else rows

    @property
    def _asks_for_content(self) -> bool:
        """Whether an answer with a withheld event in it would tell more than its place, instant and kind."""
        told = {"since", "until", "kind", "without"}
        return any(getattr(self, found.name) for found in fields(self) if found.name not in told)

    @property
    def is_empty(self) -> bool:
        return not any(getattr(self, found.name) for found in fields(self) if found.name != "without")


@dataclass(frozen=True)
class Row:
    """One event of a list. `position` is None while it waits for its place; of a withheld one only place, instant and
    kind are given."""

    id: int
    position: int | None
    recorded_at: datetime
    body: dict[str, Any]
    organisation: str
    subject_type: str
    subject_id: str
    kind: str
    outcome: str
    withheld: bool = False


@dataclass(frozen=True)
class Page:
    """Newest first. `older` and `newer` are the ids to go on from; None where nothing is there."""

    rows: Sequence[Row]
    older: int | None
    newer: int | None


def events(wanted: Filter, *, before: int | None = None, after: int | None = None, limit: int = PAGE) -> Page:
    """One page of events by keyset: those with ids below `before`, or the next ones above `after`."""
    rows = wanted.rows()
    if after is not None:
        found = list(rows.filter(id__gt=after).order_by("id")[: limit + 1])
        more_newer = len(found) > limit
        found = found[:limit][::-1]
        more_older = bool(found)
    else:
        if before is not None:
            rows = rows.filter(id__lt=before)
        found = list(rows.order_by("-id")[: limit + 1])
        more_older, more_newer = len(found) > limit, before is not None
        found = found[:limit]
    return Page(
        _with_places(found),
        older=found[-1].id if found and more_older else None,
        newer=found[0].id if found and more_newer else None,
    )


def _with_places(records: Sequence[EventRecord]) -> list[Row]:
    entries = Entry.objects.using(AUDITOR).filter(event_id__in=[record.id for record in records])
    places = dict(entries.values_list("event_id", "position"))
    withheld = Withholding.objects.using(AUDITOR).filter(position__in=places.values())
    hidden = set(withheld.values_list("position", flat=True))
    return [_row(record, places.get(record.id), hidden) for record in records]


def _row(record: EventRecord, position: int | None, hidden: set[int]) -> Row:
    if position in hidden:
        return Row(record.id, position, record.recorded_at, {}, "", "", "", record.kind, "", withheld=True)
    return Row(
        id=record.id,
        position=position,
        recorded_at=record.recorded_at,
        body=decoded(bytes(record.body)),
        organisation=record.organisation_id,
        subject_type=record.subject_type,
        subject_id=record.subject_id,
        kind=record.kind,
        outcome=record.outcome,
    )


def decoded(body: bytes) -> dict[str, Any]:
    """The event's object; empty where the bytes are none any more."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


@dataclass(frozen=True)
class Detail:
    """One event with what shows that it is in the log; without `proof` it waits for its place or a signature."""

    row: Row
    exact: bytes
    leaf: bytes
    proof: Proof | None
    checkpoint: Checkpoint | None


def event(identifier: int) -> Detail | None:
    """The event of that id; None where there is none."""
    record = EventRecord.objects.using(AUDITOR).filter(id=identifier).first()
    if record is None:
        return None
    row = _with_places([record])[0]
    exact, leaf = b"" if row.withheld else bytes(record.body), bytes(record.leaf_hash)
    if row.position is None:
        return Detail(row, exact, leaf, None, None)
    try:
        covering = queries.first_covering(row.position, using=AUDITOR)
    except queries.NotInLog:
        return Detail(row, exact, leaf, None, None)
    path = tuple(queries.inclusion(row.position, covering.size, using=AUDITOR))
    note = queries.note_of(covering, using=AUDITOR)
    return Detail(row, exact, leaf, Proof(row.position, path, note, exact or None), covering)


def event_at(position: int) -> int | None:
    """The id of the event at a position of the log."""
    found = Entry.objects.using(AUDITOR).filter(position=position)
    return found.values_list("event_id", flat=True).first()


@dataclass(frozen=True)
class Signed:
    """A checkpoint and the names of the witnesses that vouch for it."""

    checkpoint: Checkpoint
    witnesses: Sequence[str]

    @property
    def root(self) -> str:
        """As the signed note has it."""
        return base64.b64encode(bytes(self.checkpoint.root)).decode("ascii")


def checkpoints(*, before: int | None = None, limit: int = PAGE) -> list[Signed]:
    """All checkpoints, public or not, largest first."""
    rows = Checkpoint.objects.using(AUDITOR).order_by("-size")
    if before is not None:
        rows = rows.filter(size__lt=before)
    return cosigned(list(rows[:limit]), using=AUDITOR)


def cosigned(rows: Sequence[Checkpoint], *, using: str) -> list[Signed]:
    """The checkpoints with whoever vouches for them."""
    found: dict[int, list[str]] = {}
    lines = Cosignature.objects.using(using).filter(checkpoint__in=[row.size for row in rows])
    for size, name in lines.order_by("witness__name").values_list("checkpoint_id", "witness__name"):
        found.setdefault(size, []).append(name)
    return [Signed(row, found.get(row.size, [])) for row in rows]
