"""What changes beside the tree: witnesses, and their cosignatures. The tree itself is the sequencer's alone."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from enum import StrEnum

from django.conf import settings
from django.db import transaction

from audit import log, queries
from audit.events import Actor
from audit.log_events import WitnessRegistered
from audit.merkle import note as notes
from audit.merkle.checkpoint import Checkpoint, CheckpointInvalid
from audit.models import Cosignature, Witness
from config import clock

FUTURE = timedelta(minutes=5)
"""How far ahead of ours a witness's clock may be."""
EARLIEST = datetime(2020, 1, 1, tzinfo=UTC)


class Fault(StrEnum):
    """Why a cosigned note is not taken."""

    MALFORMED = "note_malformed"
    OTHER_LOG = "other_log"
    UNKNOWN_CHECKPOINT = "unknown_checkpoint"
    OTHER_ROOT = "other_root"
    UNKNOWN_WITNESS = "unknown_witness"
    WRONG_SIGNATURE = "wrong_signature"
    WRONG_TIME = "wrong_time"


class CosignatureRefused(ValueError):
    """The note is not taken; `fault` says why."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.value)
        self.fault = fault


def register_witness(name: str, vkey: str, *, by: Actor) -> Witness:
    """Accept cosignatures by this key from now on; `name` is how people know the witness.

    Raises ValueError where it is no key of a witness, or the name or the key is registered already.
    """
    verifier = notes.Verifier.parse(vkey)
    if verifier.kind != notes.COSIGNATURE:
        raise ValueError("that key signs logs; a witness's key is of the cosignature type")
    name = name.strip()
    with transaction.atomic():
        if not name or Witness.objects.filter(name=name).exists():
            raise ValueError(f"the name {name!r} is empty or taken")
        if Witness.objects.filter(vkey=verifier.vkey).exists():
            raise ValueError("that key is registered already")
        witness = Witness.objects.create(name=name, vkey=verifier.vkey, added_at=clock.now())
        log.append(WitnessRegistered(subject=witness.id, name=name, vkey=witness.vkey), by=by)
    return witness


def accept_cosignatures(text: str) -> list[Witness]:
    """Keep the cosignatures of registered witnesses in a signed note over a public checkpoint; returns whose.

    A second one by the same witness over the same checkpoint changes nothing. Raises CosignatureRefused where the
    note is malformed, not over a checkpoint of ours, or has no valid line by a registered witness.
    """
    note = _parse(text)
    size = _require_ours(note)
    by_key = {witness.vkey: witness for witness in queries.witnesses()}
    known = {verifier: by_key[verifier.vkey] for verifier in notes.well_formed(by_key)}
    try:
        verified = note.verified(known)
    except notes.NoteInvalid as error:
        raise CosignatureRefused(Fault.WRONG_SIGNATURE) from error
    if not verified:
        raise CosignatureRefused(Fault.UNKNOWN_WITNESS)
    lines = _lines(text, note)
    rows = [
        Cosignature(
            checkpoint_id=size,
            witness=known[item.verifier],
            line=lines[item.verifier.name, item.verifier.key_id],
            signed_at=_time(item.at),
            received_at=clock.now(),
        )
        for item in verified
    ]
    Cosignature.objects.bulk_create(rows, ignore_conflicts=True)
    return [row.witness for row in rows]


def _parse(text: str) -> notes.Note:
    try:
        return notes.parse_note(text)
    except notes.NoteInvalid as error:
        raise CosignatureRefused(Fault.MALFORMED) from error


def _require_ours(note: notes.Note) -> int:
    """The size of the public checkpoint that was signed."""
    try:
        signed = Checkpoint.parse(note.body)
    except CheckpointInvalid as error:
        raise CosignatureRefused(Fault.MALFORMED) from error
    if signed.origin != settings.LOG_ORIGIN:
        raise CosignatureRefused(Fault.OTHER_LOG)
    try:
        ours = queries.public_checkpoint(signed.size)
    except queries.NotInLog as error:
        raise CosignatureRefused(Fault.UNKNOWN_CHECKPOINT) from error
    if bytes(ours.root) != signed.root:
        raise CosignatureRefused(Fault.OTHER_ROOT)
    return signed.size


def _lines(text: str, note: notes.Note) -> dict[tuple[str, bytes], str]:
    """The first signature line of each key."""
    written = text.rpartition("\n\n")[2].splitlines(keepends=True)
    found: dict[tuple[str, bytes], str] = {}
    for signature, line in zip(note.signatures, written, strict=True):
        found.setdefault((signature.name, signature.key_id), line)
    return found


def _time(seconds: int | None) -> datetime:
    limit = clock.now() + FUTURE
    if seconds is None or not EARLIEST.timestamp() <= seconds <= limit.timestamp():
        raise CosignatureRefused(Fault.WRONG_TIME)
    return datetime.fromtimestamp(seconds, UTC)
