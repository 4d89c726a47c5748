"""`lgbench-audit verify` on a receipt: the proofs that a submission and its release are in the log."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Sequence
from typing import Any

from audit.merkle.checkpoint import Checkpoint, CheckpointInvalid
from audit.merkle.note import NoteInvalid, Verifier
from audit.merkle.proof import Proof, verify
from audit.merkle.tree import ProofInvalid
from client.audit.events import Malformed, Read, read_entry
from client.audit.report import Report, WrongQuestion

_SURROGATE = re.compile("[\ud800-\udfff]")
SCHEMA = "lingee-receipt/1"
PARTS = {"admission": "submission.admitted", "release": "result.released"}
"""Part of the receipt, and the kind of event that its proof must show."""


def parse_receipt(data: bytes) -> dict[str, Any]:
    """Raises WrongQuestion where this is no receipt."""
    try:
        body = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise WrongQuestion("the file is neither an export nor a receipt") from error
    if not isinstance(body, dict) or body.get("schema") != SCHEMA:
        raise WrongQuestion(f"the file is no receipt of schema {SCHEMA}")
    if not all(isinstance(value, str) for value in body.values()) or "submission" not in body:
        raise WrongQuestion("a field of the receipt is missing or of the wrong type")
    if any(_SURROGATE.search(value) for value in body.values()):
        raise WrongQuestion("a field of the receipt is no text: it holds half of a character")
    return body


def verify_receipt(body: dict[str, Any], keys: Sequence[Verifier]) -> Report:
    """The report on a parsed receipt; `keys` alone decide, not the one that the receipt names.

    Raises WrongQuestion where there is no key.
    """
    if not keys:
        raise WrongQuestion("--key: the file holds no key")
    subject = f"receipt of submission {body['submission']}"
    report = Report(subject, "receipt", keys[0].name, key=", ".join(key.vkey for key in keys))
    if "admission" not in body:
        report.add(None, None, "the receipt holds no proof of admission")
    places: dict[str, tuple[int, Checkpoint]] = {}
    for part, kind in PARTS.items():
        if part not in body:
            report.proved.append(f"{part}: not in this file")
            continue
        proved = _verify_part(report, body[part], (part, kind, body["submission"]), keys)
        report.proved.append(f"{part}: entry {proved[0]}" if proved else f"{part}: not proved")
        if proved:
            places[part] = proved
    if len(places) == len(PARTS):
        _compare(report, places["admission"], places["release"])
    return report


def _compare(report: Report, admission: tuple[int, Checkpoint], release: tuple[int, Checkpoint]) -> None:
    """The order of the two events, and one log behind the two checkpoints as far as the file can show it."""
    (admitted, first), (released, second) = admission, release
    if released <= admitted:
        report.add(released, released, "the release stands before the admission")
    if first.size == second.size and first.root != second.root:
        what = f"two roots were signed at {first.size} entries: the log was forked"
        report.add(min(admitted, released), first.size - 1, what)


def _verify_part(
    report: Report, text: str, expected: tuple[str, str, str], keys: Sequence[Verifier]
) -> tuple[int, Checkpoint] | None:
    """The position that was proved, and the checkpoint; None where nothing was."""
    part, kind, submission = expected
    try:
        proof = Proof.parse(text)
    except ProofInvalid as error:
        report.add(None, None, f"{part}: {error}")
        return None
    try:
        if proof.extra is None:
            raise ProofInvalid("the proof does not hold its entry")
        found = verify(proof, proof.extra, keys)
        entry = read_entry(proof.extra)
    except (ProofInvalid, NoteInvalid, CheckpointInvalid, Malformed) as error:
        report.add(proof.index, proof.index, f"{part}: {error}")
        return None
    if wrong := _another(entry, kind, submission):
        report.add(proof.index, proof.index, f"{part}: {wrong}")
        return None
    report.checkpoints += 1
    if found.size > report.size:
        report.size, report.root = found.size, base64.b64encode(found.root).decode("ascii")
    return proof.index, found


def _another(entry: Read, kind: str, submission: str) -> str | None:
    if entry.kind != kind:
        return f"the entry is {entry.kind}, not {kind}"
    if entry.subject != submission:
        return f"the entry is of the submission {entry.subject}"
    return None
