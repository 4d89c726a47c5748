"""Checking the log in the live database, as the auditor's role: what no export shows.

One pass over all events: exact bytes against leaf hashes and index columns, places against the tree, tiles and signed
checkpoints, and the states that events tell against the rows (audit.replay). Everything is read in one snapshot.
Memory: the right edge of the tree, and one small state for each governed object.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from typing import Any

import psycopg
from django.conf import settings
from django.db import connections, transaction

from audit.edge import FullTile, RightEdge
from audit.explore import AUDITOR, decoded
from audit.merkle.checkpoint import Checkpoint, CheckpointInvalid, open_checkpoint
from audit.merkle.note import NoteInvalid, Verifier
from audit.merkle.tree import leaf_hash
from audit.replay import Ledger, Replay, ledgers
from config import clock

LONGEST_WAIT = timedelta(seconds=5)
"""How long an event may wait for its place."""
CHUNK = 2000
MAXIMUM_FINDINGS = 100

COLUMNS = (
    *("kind", "subject_type", "subject_id", "actor_kind", "actor_id", "organisation_id", "channel"),
    "outcome",
)
EVENT = f"event.id, event.body, event.leaf_hash, {', '.join(f'event.{name}' for name in COLUMNS)}"
PLACED = (
    f"SELECT entry.position, entry.event_id, entry.leaf_hash, {EVENT} FROM audit_entry entry "  # noqa: S608
    "LEFT JOIN audit_event event ON event.id = entry.event_id ORDER BY entry.position"
)
UNPLACED = (
    f"SELECT {EVENT}, event.recorded_at, pending.event_id FROM audit_event event "  # noqa: S608
    "LEFT JOIN audit_entry entry ON entry.event_id = event.id "
    "LEFT JOIN audit_pending pending ON pending.event_id = event.id WHERE entry.position IS NULL ORDER BY event.id"
)
LOST = (
    "SELECT pending.event_id FROM audit_pending pending LEFT JOIN audit_event event ON event.id = pending.event_id "
    "WHERE event.id IS NULL ORDER BY pending.event_id"
)


@dataclass(frozen=True)
class Finding:
    """Something that is wrong: where in the log, or which row of which table, and what."""

    what: str
    position: int | None = None
    event: int | None = None
    table: str = ""
    row: str = ""

    def line(self) -> str:
        """One line for people."""
        places = [
            *([f"position {self.position}"] if self.position is not None else []),
            *([f"event {self.event}"] if self.event is not None else []),
            *([f"{self.table} {self.row}"] if self.table else []),
        ]
        return f"{', '.join(places) or 'log'}: {self.what}"


@dataclass
class Report:
    """What was looked at and what was found, in the order of the checks; the first is the first bad index."""

    events: int = 0
    entries: int = 0
    checkpoints: int = 0
    tiles: int = 0
    findings: list[Finding] = field(default_factory=list)
    more: int = 0
    """Findings beyond those that are listed."""

    @property
    def ok(self) -> bool:
        return not self.findings

    def add(self, finding: Finding) -> None:
        if len(self.findings) < MAXIMUM_FINDINGS:
            self.findings.append(finding)
        else:
            self.more += 1

    def as_dict(self) -> dict[str, Any]:
        return {"ok": self.ok, **asdict(self)}


@dataclass(frozen=True)
class Row:
    """One event as stored."""

    id: int
    body: bytes
    leaf: bytes
    columns: tuple[str, ...]


def expected_columns(body: Mapping[str, Any]) -> tuple[str, ...]:
    """What the index columns of an event say, by its body; for what is no text, its type in parentheses."""
    actor, subject = (_mapping(body.get(name)) for name in ("actor", "subject"))
    values = (
        *(body.get("kind"), subject.get("type"), subject.get("id"), actor.get("kind"), actor.get("id")),
        *(actor.get("organisation", ""), actor.get("channel"), body.get("outcome")),
    )
    return tuple(value if isinstance(value, str) else f"({type(value).__name__})" for value in values)


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def column_fault(row: Row, body: Mapping[str, Any]) -> str:
    """Which stored column is not what the exact bytes say; empty where all are."""
    if row.leaf != leaf_hash(row.body):
        return "the leaf hash is not that of the bytes: one of them was changed"
    if body.get("schema") != "event/1":
        return "the bytes are no event"
    for name, stored, said in zip(COLUMNS, row.columns, expected_columns(body), strict=True):
        if stored != said:
            return f"the column {name} is {stored!r}, by the bytes {said!r}"
    return ""


class LiveCheck:
    """One run over one database. `now` decides what waits too long; `remembered` is a signed note kept elsewhere."""

    def __init__(
        self,
        database: psycopg.Connection[Any],
        *,
        origin: str,
        ledgers: Sequence[Ledger],
        now: datetime,
        remembered: str | None = None,
    ) -> None:
        self.report = Report()
        self._database = database
        self._origin = origin
        self._now = now
        self._remembered = remembered
        self._replay = Replay(ledgers)
        self._edge = RightEdge()
        self._broken = False
        self._wanted: dict[int, list[tuple[bytes, str]]] = {}

    def run(self) -> Report:
        """All checks. The connection has to be inside a transaction that keeps one snapshot."""
        self._read_checkpoints()
        for row in self._stream(PLACED):
            self._placed(row)
        self.report.entries = self._edge.size
        self._waiting()
        self._unreached()
        self._count_tiles()
        for found in self._replay.differences(self._stream):
            self.report.add(Finding(found.what, found.position, None, found.table, found.row))
        return self.report

    def _stream(self, query: str) -> Iterator[tuple[Any, ...]]:
        """Rows by a cursor on the server, so that memory does not grow with the log."""
        with self._database.cursor(name="audit_live") as cursor:
            cursor.itersize = CHUNK
            cursor.execute(query)  # type: ignore[call-overload]
            yield from cursor

    # --- checkpoints ---------------------------------------------------------------------------------

    def _read_checkpoints(self) -> None:
        """Open every signed checkpoint, and note which root has to come out at which size."""
        keys = []
        for vkey, since in self._stream("SELECT vkey, since_size FROM audit_log_key ORDER BY since_size"):
            try:
                keys.append((since, Verifier.parse(vkey)))
            except NoteInvalid as error:
                self.report.add(Finding(f"a key of the log, since {since} entries, is none: {error}"))
        for size, root, note in self._stream("SELECT size, root, note FROM audit_checkpoint ORDER BY size"):
            self.report.checkpoints += 1
            known = [key for since, key in keys if since <= size]
            if fault := self._checkpoint_fault(int(size), bytes(root), note, known):
                self.report.add(Finding(f"the checkpoint of {size} entries {fault}", position=size))
            self._wanted.setdefault(int(size), []).append((bytes(root), "the checkpoint"))
        if self._remembered is not None:
            self._remember([key for _, key in keys])

    def _checkpoint_fault(self, size: int, root: bytes, note: str, keys: Sequence[Verifier]) -> str:
        try:
            signed = open_checkpoint(note, keys)
        except (NoteInvalid, CheckpointInvalid) as error:
            return f"is not signed by a key of the log: {error}"
        if signed != Checkpoint(self._origin, size, root):
            return "names another log, size or root than it signs"
        return ""

    def _remember(self, keys: Sequence[Verifier]) -> None:
        try:
            signed = open_checkpoint(str(self._remembered), keys)
        except (NoteInvalid, CheckpointInvalid) as error:
            self.report.add(Finding(f"the remembered checkpoint is not signed by a key of this log: {error}"))
            return
        self._wanted.setdefault(signed.size, []).append((signed.root, "the remembered checkpoint"))

    def _meet(self) -> None:
        """The tree has reached a size at which something was signed."""
        for root, whose in self._wanted.pop(self._edge.size, ()):
            if self._edge.root() != root:
                size = self._edge.size
                self.report.add(
                    Finding(f"{whose} of {size} entries has another root than the entries", position=size)
                )

    def _unreached(self) -> None:
        """What was signed over more entries than there are."""
        for size, signed in sorted(self._wanted.items()):
            for _, whose in signed:
                if size and not self._broken:
                    self.report.add(
                        Finding(
                            f"{whose} covers {size} entries and there are {self._edge.size}: the log was restored "
                            "from earlier or cut off",
                            position=self._edge.size,
                        )
                    )

    # --- entries and events ----------------------------------------------------------------------------

    def _placed(self, row: tuple[Any, ...]) -> None:
        position, event_id, leaf, found_id, body, event_leaf, *columns = row
        if not self._broken and position != self._edge.size:
            self._broken = True
            self.report.add(
                Finding(f"entry {self._edge.size} is missing; {position} follows", self._edge.size)
            )
        if found_id is None:
            self.report.add(Finding("the event of this entry is gone", position, event_id))
        else:
            event = Row(found_id, bytes(body), bytes(event_leaf), tuple(map(str, columns)))
            said = self._event(event, position)
            if leaf_hash(event.body) != bytes(leaf):
                self.report.add(
                    Finding("the entry has another leaf hash than the event's bytes", position, event_id)
                )
            self._follow(said, position)
        if not self._broken:
            self._check_tiles(self._edge.extend([bytes(leaf)]), position)
            self._meet()

    def _follow(self, said: Mapping[str, Any], position: int | None) -> None:
        for found in self._replay.see(said, position):
            self.report.add(Finding(found.what, found.position, None, found.table, found.row))

    def _event(self, row: Row, position: int | None) -> dict[str, Any]:
        self.report.events += 1
        said = decoded(row.body)
        if fault := column_fault(row, said):
            self.report.add(Finding(fault, position, row.id))
        return said

    def _check_tiles(self, tiles: Iterable[FullTile], position: int) -> None:
        for tile in tiles:
            self.report.tiles += 1
            stored = self._database.execute(
                "SELECT hashes, root FROM audit_tile WHERE level = %s AND number = %s",
                [tile.level, tile.number],
            ).fetchone()
            if stored is None or (bytes(stored[0]), bytes(stored[1])) != (tile.hashes, tile.root):
                what = f"tile {tile.number} of level {tile.level} is not the one over the entries"
                self.report.add(Finding(what, position))

    def _count_tiles(self) -> None:
        (stored,) = self._database.execute("SELECT count(*) FROM audit_tile").fetchone() or (0,)
        if not self._broken and stored > self.report.tiles:
            self.report.add(Finding(f"{stored - self.report.tiles} tiles are stored that no entries fill"))

    def _waiting(self) -> None:
        """Events without a place: they may wait for a moment, and each has to be among those that wait."""
        for identifier, body, leaf, *rest in self._stream(UNPLACED):
            *columns, recorded_at, pending = rest
            event = Row(identifier, bytes(body), bytes(leaf), tuple(map(str, columns)))
            self._follow(self._event(event, None), None)
            if pending is None:
                self.report.add(Finding("the event has no place and does not wait for one", event=identifier))
            elif self._now - recorded_at > LONGEST_WAIT:
                seconds = (self._now - recorded_at).total_seconds()
                self.report.add(
                    Finding(f"the event waits for its place for {seconds:.0f} s", event=identifier)
                )
        for (identifier,) in self._stream(LOST):
            self.report.add(Finding("an event that waits for its place is gone", event=identifier))


def check(remembered: str | None = None) -> Report:
    """Check the live database against everything that the apps declare."""
    with transaction.atomic(using=AUDITOR):
        wrapper = connections[AUDITOR]
        wrapper.ensure_connection()
        found = LiveCheck(
            wrapper.connection,
            origin=settings.LOG_ORIGIN,
            ledgers=ledgers(),
            now=clock.now(),
            remembered=remembered,
        )
        return found.run()
