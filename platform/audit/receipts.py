"""Proofs for receipts: that one event about a submission is in the log, as a text that is checked offline.

The proof is against the first checkpoint that covers the event. That one never changes, so that whoever asks again
and again learns the size of the log at the event and never how it grows.
"""

from __future__ import annotations

from typing import NamedTuple
from uuid import UUID

from django.db import connection

from audit import queries
from audit.merkle.note import signed_by
from audit.models import Checkpoint


class Proven(NamedTuple):
    """`text` is a tlog-proof (C2SP) that carries its entry; `vkey` the key of the log that signs such checkpoints."""

    text: str
    vkey: str


def proof_of(kind: str, submission_id: UUID) -> Proven | None:
    """The proof of the event of `kind` about that submission; None until it is in a signed tree, or there is none.

    Whether the caller may see it is the caller's business. The database gives out two kinds only:
    `submission.admitted` and `result.released`.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT place, entry FROM audit_receipt_entry(%s, %s)", [kind, str(submission_id)])
        row = cursor.fetchone()
    if row is None:
        return None
    position, entry = int(row[0]), bytes(row[1])
    try:
        proof, checkpoint = queries.proved(position, entry)
    except queries.NotInLog:
        return None
    return Proven(proof.format(), _key_of(checkpoint))


def _key_of(checkpoint: Checkpoint) -> str:
    """The newest key of the log whose signature stands under it."""
    newest_first = reversed(queries.verifier_keys())
    return next((vkey for vkey in newest_first if signed_by(checkpoint.note, vkey)), "")
