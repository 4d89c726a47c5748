"""Reading the log: checkpoints and which of them are public by now, tiles, proofs, keys.

The tree grows with every event, and an ended attempt is one. So the public sees the log move at ticks only
(`settings.LOG_PUBLIC_TICK_SECONDS`): of the checkpoints made between two ticks the last one becomes public at the
second tick, and the others never do.
"""

from __future__ import annotations

import logging
from datetime import UTC, datetime, timedelta

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS

from audit.merkle.note import NoteInvalid, Verifier, add_line, parse_note, signed_by
from audit.merkle.proof import Proof
from audit.merkle.tiles import HEIGHT, WIDTH, TileReader, parse_path
from audit.merkle.tree import HASH_BYTES, consistency_proof, inclusion_proof
from audit.models import Checkpoint, Cosignature, Entry, LogKey, Tile, Witness
from config import clock

logger = logging.getLogger(__name__)


class NotInLog(LookupError):
    """The log has no such entry, tile or checkpoint, or it is not to be seen yet."""


def _tick_of(at: datetime) -> datetime:
    """The tick at or before `at`: whole multiples of the public period since the Unix epoch."""
    period = settings.LOG_PUBLIC_TICK_SECONDS
    return datetime.fromtimestamp(int(at.timestamp()) // period * period, UTC)


def _last_before(limit: datetime) -> Checkpoint | None:
    return Checkpoint.objects.filter(made_at__lt=limit).order_by("-made_at", "-size").first()


def latest_public() -> Checkpoint | None:
    """The checkpoint that the public is shown now; None before the first."""
    if not settings.LOG_PUBLIC_TICK_SECONDS:
        return Checkpoint.objects.order_by("-size").first()
    return _last_before(_tick_of(clock.now()))


def public_size() -> int:
    """How many entries the public knows of."""
    found = latest_public()
    return found.size if found else 0


def public_checkpoint(size: int) -> Checkpoint:
    """The public checkpoint of exactly `size` entries. Raises NotInLog.

    The same queries with the same number of rows whether there is no such checkpoint, a hidden one, or one above the
    public size: how long a refusal takes must not show how the log grows between ticks.
    """
    last = latest_public()
    if last is None:
        raise NotInLog(size)
    reached = Checkpoint.objects.filter(size__gte=min(size, last.size)).order_by("size").first()
    assert reached is not None, "the last public checkpoint reaches every public size"
    period = settings.LOG_PUBLIC_TICK_SECONDS
    shown = _last_before(_tick_of(reached.made_at) + timedelta(seconds=period)) if period else reached
    if shown is None or shown.size != size:
        raise NotInLog(size)
    return shown


def public_checkpoints(before: int | None, limit: int) -> list[Checkpoint]:
    """Public checkpoints, largest first, at most `limit`; with `before` those smaller than that public one.

    Raises NotInLog where `before` is none.
    """
    last = public_checkpoint(before) if before is not None else None
    if not settings.LOG_PUBLIC_TICK_SECONDS:
        rows = Checkpoint.objects.order_by("-size")
        return list((rows.filter(size__lt=last.size) if last else rows)[:limit])
    found: list[Checkpoint] = []
    following = _last_before(_tick_of(last.made_at if last else clock.now()))
    while following is not None and len(found) < limit:
        found.append(following)
        following = _last_before(_tick_of(following.made_at))
    return found


def note_of(checkpoint: Checkpoint, *, using: str = DEFAULT_DB_ALIAS) -> str:
    """The signed note with the cosignatures that came in so far, oldest first.

    Serving roles write them, so each is checked again: a line that is not its witness's own is left out.
    """
    note = checkpoint.note
    rows = Cosignature.objects.using(using).filter(checkpoint=checkpoint).order_by("id")
    for line, vkey in rows.values_list("line", "witness__vkey"):
        try:
            longer = add_line(note, line)
            if parse_note(longer).verified([Verifier.parse(vkey)]):
                note = longer
        except NoteInvalid:
            logger.warning("a cosignature of the checkpoint of %d entries is left out", checkpoint.size)
    return note


def verifier_keys(*, using: str = DEFAULT_DB_ALIAS) -> list[str]:
    """Verifier keys of this log, oldest first: those that signed the checkpoint they begin with.

    Another row says nothing, since the sequencer's password suffices for it; but before the first checkpoint the
    first row is believed.
    """
    rows = list(LogKey.objects.using(using).order_by("since_size"))
    checkpoints = Checkpoint.objects.using(using).order_by("size")
    begun = (checkpoints.filter(size__gte=row.since_size).first() for row in rows)
    pairs = zip(rows, begun, strict=True)
    return [
        row.vkey
        for row, first in pairs
        if (signed_by(first.note, row.vkey) if first is not None else row is rows[0])
    ]


def witnesses(*, using: str = DEFAULT_DB_ALIAS) -> list[Witness]:
    """All registered witnesses, by name."""
    return list(Witness.objects.using(using).order_by("name"))


def public_witnesses() -> list[Witness]:
    """The witnesses that were registered when the latest public checkpoint was made, by name.

    Later ones follow with the next: that they were registered is an event that the public does not know of yet.
    """
    last = latest_public()
    return list(Witness.objects.filter(added_at__lte=last.made_at).order_by("name")) if last else []


def tile(level: int, number: int, width: int = WIDTH, *, using: str = DEFAULT_DB_ALIAS) -> bytes:
    """The first `width` hashes of a tile; whether the public may see them is the caller's business.

    Raises NotInLog where the log is not that large.
    """
    if width == WIDTH:
        full = (
            Tile.objects.using(using)
            .filter(level=level, number=number)
            .values_list("hashes", flat=True)
            .first()
        )
        rows = [] if full is None else [full]
    elif level == 0:
        begin = number * WIDTH
        entries = Entry.objects.using(using).filter(position__gte=begin, position__lt=begin + width)
        rows = list(entries.order_by("position").values_list("leaf_hash", flat=True))
    else:
        begin = number * WIDTH
        below = Tile.objects.using(using).filter(level=level - 1, number__gte=begin, number__lt=begin + width)
        rows = list(below.order_by("number").values_list("root", flat=True))
    data = b"".join(bytes(row) for row in rows)
    if len(data) != width * HASH_BYTES:
        raise NotInLog((level, number, width))
    return data


def public_tile(level: int, number: int, width: int) -> bytes:
    """A tile, full or partial, of the tree that the public knows. Raises NotInLog."""
    if number * WIDTH + width > public_size() >> (HEIGHT * level):
        raise NotInLog((level, number, width))
    return tile(level, number, width)


def reader(size: int, *, using: str = DEFAULT_DB_ALIAS) -> TileReader:
    """Complete subtrees of the tree of the first `size` entries, for proofs."""

    def read(path: str) -> bytes:
        found = parse_path(path)
        assert found.level is not None, "proofs read tiles, never entries"
        return tile(found.level, found.number, found.width, using=using)

    return TileReader(read, size)


def consistency(old: int, new: int) -> list[bytes]:
    """The proof that the first `old` entries are a prefix of the first `new` (RFC 6962, 2.1.2); empty where equal.

    Raises ValueError unless 0 < old <= new, NotInLog where the log is not that large.
    """
    return consistency_proof(old, new, reader(new).subtree)


def inclusion(position: int, size: int, *, using: str = DEFAULT_DB_ALIAS) -> list[bytes]:
    """The audit path of an entry in the tree of the first `size` entries (RFC 6962, 2.1.1).

    Raises ValueError unless position < size, NotInLog where the log is not that large.
    """
    return inclusion_proof(position, size, reader(size, using=using).subtree)


def position_of(event_id: int) -> int:
    """The place of an event. Raises NotInLog where it has none yet."""
    found = Entry.objects.filter(event_id=event_id).values_list("position", flat=True).first()
    if found is None:
        raise NotInLog(event_id)
    return found


def first_covering(position: int, *, using: str = DEFAULT_DB_ALIAS) -> Checkpoint:
    """The smallest checkpoint, public or not, whose tree holds that entry. Raises NotInLog before it is signed."""
    found = Checkpoint.objects.using(using).filter(size__gt=position).order_by("size").first()
    if found is None:
        raise NotInLog(position)
    return found


def proved(position: int, entry: bytes) -> tuple[Proof, Checkpoint]:
    """The proof of an entry, which it carries, against the first checkpoint that covers it.

    That one never changes, whoever asks again. Raises NotInLog before it is signed.
    """
    checkpoint = first_covering(position)
    path = tuple(inclusion(position, checkpoint.size))
    return Proof(position, path, checkpoint.note, entry), checkpoint
