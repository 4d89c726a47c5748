"""The running check of the log: one stretch of positions after the other, round and round, by an office worker.

It is cheap and finds rot within a round; `manage.py audit verify` looks at everything at once. Results are kept in a
small table and shown to auditors.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import connections, transaction

from audit.edge import RightEdge
from audit.explore import AUDITOR, decoded
from audit.live import EVENT, LONGEST_WAIT, Finding, Row, column_fault
from audit.merkle.tiles import WIDTH
from audit.merkle.tree import leaf_hash
from audit.models import Checkpoint, Entry, IntegrityCheck, Pending, Tile
from config import clock

STRETCH = 16 * WIDTH
"""Positions looked at in one go: whole tiles."""
APART = timedelta(minutes=1)
KEPT = 500
"""Results that stay."""
STRETCH_ROWS = (
    f"SELECT entry.position, entry.leaf_hash, event.recorded_at, {EVENT} FROM audit_entry entry "  # noqa: S608
    "LEFT JOIN audit_event event ON event.id = entry.event_id "
    "WHERE entry.position >= %s AND entry.position < %s ORDER BY entry.position"
)


def check_if_due() -> IntegrityCheck | None:
    """`check_next`, unless the last one is younger than `APART`: ticks of a demo come every few seconds."""
    last = IntegrityCheck.objects.order_by("-id").values_list("at", flat=True).first()
    return None if last is not None and clock.now() - last < APART else check_next()


def check_next() -> IntegrityCheck | None:
    """Compute the stretch after the last one again, or the first once the end was reached; None if there is none."""
    last = IntegrityCheck.objects.order_by("-id").first()
    begin = last.last + 1 if last and last.last + 1 == last.first + STRETCH else 0
    with transaction.atomic(using=AUDITOR):
        found = _stretch(begin) or _stretch(0)
    if found is None:
        return None
    result = IntegrityCheck.objects.create(at=clock.now(), **asdict(found))
    IntegrityCheck.objects.filter(id__lte=result.id - KEPT).delete()
    return result


@dataclass
class _Stretch:
    first: int
    last: int
    ok: bool
    findings: list[dict[str, Any]]
    drift_seconds: float


def _stretch(begin: int) -> _Stretch | None:
    """What is wrong with the positions from `begin` on; None where there are none."""
    with connections[AUDITOR].cursor() as cursor:
        cursor.execute(STRETCH_ROWS, [begin, begin + STRETCH])
        rows = cursor.fetchall()
    if not rows:
        return None
    findings: list[Finding] = []
    drift = 0.0
    for expected, (position, leaf, recorded_at, found_id, body, event_leaf, *columns) in enumerate(
        rows, begin
    ):
        if position != expected:
            findings.append(Finding(f"entry {expected} is missing", expected))
            break
        if found_id is None:
            findings.append(Finding("the event of this entry is gone", position))
            continue
        event = Row(found_id, bytes(body), bytes(event_leaf), tuple(map(str, columns)))
        said = decoded(event.body)
        if fault := column_fault(event, said):
            findings.append(Finding(fault, position, event.id))
        if leaf_hash(event.body) != bytes(leaf):
            findings.append(
                Finding("the entry has another leaf hash than the event's bytes", position, event.id)
            )
        drift = max(drift, _drift(said, recorded_at))
    findings += _tiles(begin, [bytes(row[1]) for row in rows])
    last = int(rows[-1][0])
    return _Stretch(begin, last, not findings, [asdict(found) for found in findings[:20]], round(drift, 3))


def _drift(said: dict[str, Any], recorded_at: datetime) -> float:
    """Seconds between the event's own time and the database's; 0 where the event has none that can be read."""
    try:
        return abs((datetime.fromisoformat(str(said.get("time"))) - recorded_at).total_seconds())
    except (ValueError, TypeError):
        return 0.0


def _tiles(begin: int, leaves: list[bytes]) -> list[Finding]:
    """Full tiles of the lowest level over these leaves against the stored ones."""
    stored = {
        number: (bytes(hashes), bytes(root))
        for number, hashes, root in Tile.objects.using(AUDITOR)
        .filter(level=0, number__gte=begin // WIDTH, number__lt=(begin + STRETCH) // WIDTH)
        .values_list("number", "hashes", "root")
    }
    found = []
    for at in range(0, len(leaves) - WIDTH + 1, WIDTH):
        number = (begin + at) // WIDTH
        (tile, *_) = RightEdge().extend(leaves[at : at + WIDTH])
        if stored.get(number) != (tile.hashes, tile.root):
            found.append(
                Finding(f"tile {number} of level 0 is not the one over the entries", begin + at + WIDTH - 1)
            )
    return found


@dataclass(frozen=True)
class Overview:
    """The state of the log at this moment, for auditors."""

    entries: int
    missing: int
    """Positions below the largest one that nothing holds."""
    waiting: int
    waiting_too_long: int
    checkpoint: Checkpoint | None
    checks: list[IntegrityCheck]
    bad: list[IntegrityCheck]
    """The newest checks that found something."""


def overview(shown: int = 20) -> Overview:
    """Counted now, together with the newest results of the running check."""
    entries = Entry.objects.using(AUDITOR)
    largest = entries.order_by("-position").values_list("position", flat=True).first()
    count = entries.count()
    checks = IntegrityCheck.objects.using(AUDITOR).order_by("-id")
    return Overview(
        entries=count,
        missing=0 if largest is None else largest + 1 - count,
        waiting=Pending.objects.using(AUDITOR).count(),
        waiting_too_long=_waiting_since(clock.now() - LONGEST_WAIT),
        checkpoint=Checkpoint.objects.using(AUDITOR).order_by("-size").first(),
        checks=list(checks[:shown]),
        bad=list(checks.filter(ok=False)[:shown]),
    )


def _waiting_since(limit: datetime) -> int:
    with connections[AUDITOR].cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM audit_pending pending JOIN audit_event event ON event.id = pending.event_id "
            "WHERE event.recorded_at < %s",
            [limit],
        )
        (count,) = cursor.fetchone()
    return int(count)
