"""`lgbench-audit witness`: remembers the last checkpoint, demands that the next extends it, and cosigns.

Trust begins with the first checkpoint seen. Whatever does not fit is kept beside the state as evidence, and the state
stays as it was.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import http.client
import os
import re
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from pathlib import Path

from audit.merkle.checkpoint import Checkpoint, CheckpointInvalid, open_checkpoint
from audit.merkle.note import (
    Cosigner,
    NoteInvalid,
    Signature,
    Verifier,
    generate_key,
    load_key,
    parse_note,
    save_key,
)
from audit.merkle.tree import ProofInvalid, verify_consistency
from client.audit.report import WrongQuestion, shown

FINE, BROKEN, WRONG = 0, 1, 2
PATIENCE = 30
"""Seconds to wait for an answer."""
LONGEST = 64 * 1024
LARGEST_FILE = 2 * LONGEST
"""Bytes of a checkpoint with the proof before it."""
MOST_LINES = 8
"""Lines of the log's keys that are remembered; a change of keys needs two."""
_REQUEST = re.compile(r"old (0|[1-9][0-9]{0,18})\n")

ProofOf = Callable[[int, int], list[bytes]]
"""Fetches the consistency proof from one size to another."""


class Unreachable(Exception):
    """The log did not answer; nothing is known about it."""


class Refused(Exception):
    """The checkpoint does not extend the one before, or is not the log's."""


class State:
    """The directory DIR: this witness's key, its name, and the last checkpoint that it cosigned."""

    def __init__(self, folder: Path, keys: Sequence[Verifier], *, name: str | None = None) -> None:
        """`keys` are the log's. At first start a key is made and its verifier key printed. Raises WrongQuestion."""
        if not keys:
            raise WrongQuestion("--key: the file holds no key")
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.keys = keys
        self._folder = folder
        self._last, self._name = folder / "checkpoint", folder / "name"
        try:
            self._open_key(name)
        except (NoteInvalid, UnicodeDecodeError) as error:
            raise WrongQuestion(f"--state: {error}") from error

    def _open_key(self, name: str | None) -> None:
        path = self._folder / "key.pem"
        if not path.exists():
            key = generate_key()
            raw = key.public_key().public_bytes_raw()
            chosen = name or f"witness-{hashlib.sha256(raw).hexdigest()[:8]}"
            vkey = Cosigner(chosen, key, 0).vkey
            _replace(self._name, chosen)
            save_key(path, key)
            print(f"this witness's verifier key: {vkey}", flush=True)
        self.name = self._name.read_text(encoding="utf-8")
        self._key = load_key(path)

    def last(self) -> Checkpoint | None:
        """The last checkpoint that this witness cosigned. Raises WrongQuestion where the file was damaged."""
        try:
            note = self.note()
            return Checkpoint.parse(parse_note(note).body) if note else None
        except (NoteInvalid, CheckpointInvalid, UnicodeDecodeError) as error:
            raise WrongQuestion(f"--state: the remembered checkpoint is damaged: {error}") from error

    def note(self) -> str | None:
        """That checkpoint with this witness's signature."""
        return self._last.read_text(encoding="utf-8") if self._last.exists() else None

    def cosign(self, text: str) -> str:
        """Cosign and remember; on disk before it is returned.

        Of the lines under the note only the log's own are kept: others could fill it until it can be read no more.
        """
        note = parse_note(text)
        rows = dict.fromkeys(row for row in note.signatures if any(_made_by(row, key) for key in self.keys))
        # The witness runs elsewhere, under its own clock; a cosignature states when it was made.
        signer = Cosigner(self.name, self._key, int(time.time()))
        signed = f"{note.body}\n{''.join(map(_written, list(rows)[:MOST_LINES]))}{signer.line(note.body)}"
        _replace(self._last, signed)
        return signed

    def has_signed(self, text: str) -> bool:
        """Whether a checkpoint carries this witness's signature already. Raises Refused where it is forged."""
        own = Cosigner(self.name, self._key, 0).verifier
        try:
            return bool(parse_note(text).verified([own]))
        except NoteInvalid as error:
            raise Refused(f"the checkpoint carries a line in this witness's name: {error}") from error

    def keep_evidence(self, text: str) -> Path:
        """Store what was refused, under its hash."""
        path = self._folder / f"refused-{hashlib.sha256(text.encode()).hexdigest()[:16]}"
        path.write_text(text, encoding="utf-8")
        return path


def _made_by(row: Signature, key: Verifier) -> bool:
    """Whether the line claims to be of this key."""
    return (row.name, row.key_id) == (key.name, key.key_id)


def _written(row: Signature) -> str:
    """The line as it stood in the note."""
    return f"— {row.name} {base64.b64encode(row.key_id + row.data).decode('ascii')}\n"


def _replace(path: Path, text: str) -> None:
    fresh = path.with_name(f"{path.name}.new")
    with fresh.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(path)


def consider(state: State, text: str, proof_of: ProofOf) -> tuple[Checkpoint, str]:
    """Check one signed checkpoint against the last one and cosign it; the checkpoint and the cosigned note.

    Raises Refused, and Unreachable from `proof_of`.
    """
    try:
        found = open_checkpoint(text, state.keys)
    except (NoteInvalid, CheckpointInvalid) as error:
        raise Refused(f"the checkpoint is not the log's: {error}") from error
    state.has_signed(text)
    last = state.last()
    if last is not None:
        _require_extension(last, found, proof_of)
        note = state.note()
        if last == found and note is not None:
            return found, note
    return found, state.cosign(text)


def _require_extension(last: Checkpoint, found: Checkpoint, proof_of: ProofOf) -> None:
    if found.origin != last.origin:
        raise Refused(f"the checkpoint is of another log, {found.origin}")
    if found.size < last.size:
        raise Refused(f"the log shrank from {last.size} to {found.size} entries")
    if last.size == 0:
        return
    proof = [] if found.size == last.size else proof_of(last.size, found.size)
    try:
        verify_consistency(last.size, last.root, found.size, found.root, proof)
    except ProofInvalid as error:
        raise Refused(
            f"the log of {found.size} does not extend that of {last.size} entries: {error}"
        ) from error


def watch(state: State, base: str, *, every: int | None, post: bool) -> int:
    """Look at BASE/log/checkpoint once, or every so many seconds until something is wrong; the exit code."""
    if not base.startswith(("https://", "http://")):
        raise WrongQuestion("--url begins with https:// or http://")
    base = base.rstrip("/")
    while True:
        try:
            code = _look(state, base, post=post)
        except Unreachable as error:
            print(shown(f"the log cannot be asked: {error}"), file=sys.stderr, flush=True)
            code = WRONG
        if every is None or code == BROKEN:
            return code
        time.sleep(every)


def _look(state: State, base: str, *, post: bool) -> int:
    text = _request(f"{base}/log/checkpoint")
    carried: list[str] = []

    def proof_of(old: int, new: int) -> list[bytes]:
        carried.append(_request(f"{base}/log/consistency?from={old}&to={new}"))
        return _hashes(carried[0])

    code, note = _judge(state, text, proof_of, carried)
    if post and note is not None and not state.has_signed(text):
        _request(f"{base}/log/cosignatures", note)
    return code


def _judge(state: State, text: str, proof_of: ProofOf, carried: Sequence[str] = ()) -> tuple[int, str | None]:
    """Consider and tell; the exit code, and the cosigned note where there is one."""
    try:
        found, note = consider(state, text, proof_of)
    except Refused as error:
        path = state.keep_evidence("".join([text, *carried]))
        print(shown(f"REFUSED: {error}; kept as {path}"), flush=True)
        return BROKEN, None
    print(shown(f"cosigned: {found.origin}, {found.size} entries"), flush=True)
    return FINE, note


def by_hand(state: State, paths: Sequence[Path]) -> int:
    """Cosign checkpoints from files, in order: bare ones, or with the proof before them (C2SP tlog-witness request:
    `old SIZE`, one hash a line, an empty line, the checkpoint)."""
    for path in paths:
        text = _read(path)
        match = _REQUEST.match(text)
        head, _, checkpoint = text[match.end() :].partition("\n\n") if match else ("", "", text)
        if match and text[match.end() :].startswith("\n"):
            head, checkpoint = "", text[match.end() + 1 :]
        code, note = _judge(state, checkpoint, lambda old, new, head=head: _hashes(head))  # type: ignore[misc]
        if code != FINE or note is None:
            return code
        print(note, end="", flush=True)
    return FINE


def _read(path: Path) -> str:
    """The text of a file. Raises WrongQuestion."""
    try:
        with path.open("rb") as file:
            return file.read(LARGEST_FILE).decode().replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise WrongQuestion(f"--checkpoint: {path} is no text") from error


def _hashes(text: str) -> list[bytes]:
    """Raises Refused: who gives no proof has none."""
    try:
        return [base64.b64decode(line, validate=True) for line in text.split()]
    except (binascii.Error, ValueError) as error:
        raise Refused("the consistency proof is no base64, one hash a line") from error


def _request(url: str, body: str | None = None) -> str:
    """GET, or POST of `body` as text. Raises Unreachable."""
    headers = {"Content-Type": "text/plain; charset=utf-8"} if body is not None else {}
    request = urllib.request.Request(url, body.encode() if body is not None else None, headers)  # noqa: S310
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:  # noqa: S310 (scheme checked by watch)
            return str(answer.read(LONGEST).decode())
    except urllib.error.HTTPError as error:
        raise Unreachable(f"{url} answers {error.code}") from error
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise Unreachable(f"{url}: {error}") from error
