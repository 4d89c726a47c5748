"""`lgbench-audit verify` on a proof of one entry: the text that auditors download beside an event."""

from __future__ import annotations

import base64
from collections.abc import Sequence

from audit.merkle.checkpoint import CheckpointInvalid
from audit.merkle.note import NoteInvalid, Verifier, signed_by
from audit.merkle.proof import HEADER, Proof, verify
from audit.merkle.tree import ProofInvalid
from client.audit.events import Malformed, read_entry
from client.audit.report import Report

LARGEST = 1 << 20
"""Bytes of a proof with its entry; more is none."""


def is_proof(data: bytes) -> bool:
    """Whether a file that begins so claims to be a proof (C2SP tlog-proof)."""
    return data.startswith(HEADER.encode())


def verify_proof(text: str, keys: Sequence[Verifier]) -> Report:
    """The report on a proof that carries its entry; one of the log's keys has signed its checkpoint."""
    report = Report("proof of one entry", "proof", keys[0].name, key=keys[0].vkey)
    try:
        proof = Proof.parse(text)
    except ProofInvalid as error:
        report.add(None, None, str(error))
        return report
    try:
        if proof.extra is None:
            raise ProofInvalid("the proof does not hold its entry: it is withheld, or was left out")
        found = verify(proof, proof.extra, keys)
    except (ProofInvalid, NoteInvalid, CheckpointInvalid) as error:
        report.add(proof.index, proof.index, str(error))
        return report
    report.key = next(key.vkey for key in keys if signed_by(proof.checkpoint, key.vkey))
    report.checkpoints, report.size = 1, found.size
    report.root = base64.b64encode(found.root).decode("ascii")
    report.proved.append(f"entry {proof.index}: {_named(proof.extra)}")
    return report


def _named(entry: bytes) -> str:
    """Kind and subject of the entry, as far as it is an event."""
    try:
        event = read_entry(entry)
    except Malformed as error:
        return f"it is in the log, but no event: {error}"
    return f"{event.kind}, subject {event.subject}"
