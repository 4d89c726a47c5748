"""Signed notes of C2SP: a text, a blank line, and signatures by named Ed25519 keys; and witnesses' cosignatures."""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

ED25519 = 0x01
COSIGNATURE = 0x04
"""Signature types of C2SP signed-note."""
KEY_ID_BYTES, PUBLIC_BYTES, TIME_BYTES, SIGNATURE_BYTES = 4, 32, 8, 64
MAXIMUM_SIGNATURES = 128
MAXIMUM_BYTES = 64 * 1024
_MARK = "— "
_CONTROL = re.compile("[\x00-\x09\x0b-\x1f]")
_NAME = re.compile(r"[^\s+]+")
_VKEY = re.compile(r"([^\s+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/]+={0,2})")


class NoteInvalid(ValueError):
    """A note, a signature or a verifier key is malformed, or no signature is by a known key, or one is wrong."""


def _unbase64(text: str) -> bytes:
    """Strict standard base64. Raises NoteInvalid."""
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise NoteInvalid("a part of the note is no base64") from error
    if base64.b64encode(data).decode("ascii") != text:
        raise NoteInvalid("a part of the note is no base64 in its shortest form")
    return data


def _key_id(name: str, kind: int, public: bytes) -> bytes:
    return hashlib.sha256(name.encode() + b"\n" + bytes([kind]) + public).digest()[:KEY_ID_BYTES]


def _vkey(name: str, kind: int, public: bytes) -> str:
    key = base64.b64encode(bytes([kind]) + public).decode("ascii")
    return f"{name}+{_key_id(name, kind, public).hex()}+{key}"


def _raw(key: Ed25519PublicKey) -> bytes:
    return key.public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)


def _require_name(name: str) -> None:
    if not _NAME.fullmatch(name) or _CONTROL.search(name):
        raise NoteInvalid(f"{name!r} is no key name: no spaces and no plus sign")


def _require_text(text: str) -> None:
    if not text.endswith("\n") or _CONTROL.search(text):
        raise NoteInvalid("the text of a note ends in a newline and has no other control character")


def _cosigned(body: str, at: int) -> bytes:
    return f"cosignature/v1\ntime {at}\n{body}".encode()


@dataclass(frozen=True)
class Verifier:
    """The public half of a key: name, signature type, 32 bytes."""

    name: str
    kind: int
    public: bytes = field(repr=False)

    @classmethod
    def parse(cls, vkey: str) -> Verifier:
        """From `name+id+key`. Raises NoteInvalid also where the id does not fit or the type is unknown."""
        match = _VKEY.fullmatch(vkey.strip())
        if match is None:
            raise NoteInvalid("a verifier key is written name+id+key")
        data = _unbase64(match[3])
        if len(data) != 1 + PUBLIC_BYTES or data[0] not in {ED25519, COSIGNATURE}:
            raise NoteInvalid("the verifier key is of an unknown type")
        found = cls(match[1], data[0], data[1:])
        if found.key_id.hex() != match[2]:
            raise NoteInvalid("the verifier key's id does not fit its name and key")
        return found

    @property
    def key_id(self) -> bytes:
        """Four bytes that with the name say which key signed."""
        return _key_id(self.name, self.kind, self.public)

    @property
    def vkey(self) -> str:
        """`name+id+key`, as `parse` reads it."""
        return _vkey(self.name, self.kind, self.public)

    def check(self, body: str, signature: bytes) -> int | None:
        """The time of a cosignature in seconds since 1970, None for a plain signature. Raises NoteInvalid if wrong."""
        at, message = None, body.encode()
        if self.kind == COSIGNATURE:
            at = int.from_bytes(signature[:TIME_BYTES], "big")
            message, signature = _cosigned(body, at), signature[TIME_BYTES:]
            if at >= 1 << 63:
                raise NoteInvalid("a cosignature's time is out of range")
        try:
            Ed25519PublicKey.from_public_bytes(self.public).verify(signature, message)
        except (InvalidSignature, ValueError) as error:
            raise NoteInvalid(f"the signature by {self.name} is wrong") from error
        return at


class Signs(Protocol):
    """What can add a line to a note."""

    def line(self, body: str) -> str: ...


def _line(name: str, key_id: bytes, signature: bytes) -> str:
    return f"{_MARK}{name} {base64.b64encode(key_id + signature).decode('ascii')}\n"


class Signer:
    """A log's key: plain Ed25519 signatures under `name`. Raises NoteInvalid for a name that cannot stand in a note."""

    def __init__(self, name: str, key: Ed25519PrivateKey) -> None:
        _require_name(name)
        self.name = name
        self._key = key
        self.verifier = Verifier(name, ED25519, _raw(key.public_key()))

    @property
    def vkey(self) -> str:
        return self.verifier.vkey

    def line(self, body: str) -> str:
        """The signature line under `body`."""
        return _line(self.name, self.verifier.key_id, self._key.sign(body.encode()))

    def sign(self, body: str) -> str:
        """The signed note. Raises NoteInvalid where `body` does not end in a newline or has control characters."""
        _require_text(body)
        return f"{body}\n{self.line(body)}"


class Cosigner:
    """A witness's key: signatures that say when the checkpoint was the latest seen (C2SP cosignature/v1)."""

    def __init__(self, name: str, key: Ed25519PrivateKey, at: int) -> None:
        """`at`: seconds since 1970 that its signatures state."""
        _require_name(name)
        if not 0 <= at < 1 << 63:
            raise NoteInvalid("a cosignature's time is out of range")
        self.name = name
        self.at = at
        self._key = key
        self.verifier = Verifier(name, COSIGNATURE, _raw(key.public_key()))

    @property
    def vkey(self) -> str:
        return self.verifier.vkey

    def line(self, body: str) -> str:
        """The signature line under `body`."""
        signature = self.at.to_bytes(TIME_BYTES, "big") + self._key.sign(_cosigned(body, self.at))
        return _line(self.name, self.verifier.key_id, signature)


@dataclass(frozen=True)
class Signature:
    """One line under a note, not verified."""

    name: str
    key_id: bytes
    data: bytes


@dataclass(frozen=True)
class Verified:
    """A signature that a known key made; `at` (seconds since 1970) only for cosignatures."""

    verifier: Verifier
    at: int | None


@dataclass(frozen=True)
class Note:
    """A parsed note, nothing of it verified."""

    body: str
    signatures: tuple[Signature, ...]

    def verified(self, verifiers: Iterable[Verifier]) -> list[Verified]:
        """The signatures by these keys, in the order of the note, each key once; those of other keys are ignored.

        Raises NoteInvalid where one by a known key is wrong.
        """
        known = {(verifier.name, verifier.key_id): verifier for verifier in verifiers}
        found: dict[Verifier, Verified] = {}
        for signature in self.signatures:
            verifier = known.get((signature.name, signature.key_id))
            if verifier is not None:
                found.setdefault(verifier, Verified(verifier, verifier.check(self.body, signature.data)))
        return list(found.values())


def well_formed(vkeys: Iterable[str]) -> list[Verifier]:
    """The keys among these that are any: whoever may add a line to a list of keys must not make the others useless."""
    found = []
    for vkey in vkeys:
        with suppress(NoteInvalid):
            found.append(Verifier.parse(vkey))
    return found


def signed_by(text: str, vkey: str) -> bool:
    """Whether a signature by that key stands under the note, and is right."""
    try:
        return bool(parse_note(text).verified([Verifier.parse(vkey)]))
    except NoteInvalid:
        return False


def parse_note(text: str) -> Note:
    """Text and signature lines. Raises NoteInvalid."""
    if len(text) > MAXIMUM_BYTES:
        raise NoteInvalid("the note is too long")
    _require_text(text)
    head, blank, lines = text.rpartition("\n\n")
    if not blank or not lines:
        raise NoteInvalid("the note has no signatures")
    rows = lines[:-1].split("\n")
    if len(rows) > MAXIMUM_SIGNATURES:
        raise NoteInvalid("the note has too many signatures")
    return Note(f"{head}\n", tuple(_parse_line(row) for row in rows))


def _parse_line(row: str) -> Signature:
    name, space, encoded = row.removeprefix(_MARK).partition(" ")
    if not row.startswith(_MARK) or not space or not _NAME.fullmatch(name):
        raise NoteInvalid("a signature line is malformed")
    data = _unbase64(encoded)
    if len(data) <= KEY_ID_BYTES:
        raise NoteInvalid("a signature line is too short")
    return Signature(name, data[:KEY_ID_BYTES], data[KEY_ID_BYTES:])


def open_note(text: str, verifiers: Sequence[Verifier]) -> tuple[str, list[str]]:
    """The text and the names of the known keys that signed it.

    Raises NoteInvalid where the note is malformed, no known key signed, or a known key's signature is wrong.
    """
    note = parse_note(text)
    found = note.verified(verifiers)
    if not found:
        raise NoteInvalid("no known key signed the note")
    return note.body, [item.verifier.name for item in found]


def add_signature(text: str, signer: Signs) -> str:
    """The note with one more signature line. Raises NoteInvalid where it is malformed."""
    return text + signer.line(parse_note(text).body)


def add_line(text: str, line: str) -> str:
    """The note with a signature line that somebody else made. Raises NoteInvalid where either is malformed."""
    parse_note(text)
    if parse_note(f"x\n\n{line}").body != "x\n" or line.count("\n") != 1:
        raise NoteInvalid("a signature line is malformed")
    return text + line


def generate_key() -> Ed25519PrivateKey:
    """A fresh signing key from the system's randomness."""
    return Ed25519PrivateKey.generate()


def save_key(path: Path, key: Ed25519PrivateKey) -> None:
    """Write `key` as PEM, readable by this user only. Raises FileExistsError: a key is never written over."""
    data = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def load_key(path: Path) -> Ed25519PrivateKey:
    """The key in a PEM file. Raises OSError, or NoteInvalid where it holds no Ed25519 key."""
    try:
        key = serialization.load_pem_private_key(path.read_bytes(), password=None)
    except (ValueError, TypeError) as error:
        raise NoteInvalid(f"{path.name} holds no private key") from error
    if not isinstance(key, Ed25519PrivateKey):
        raise NoteInvalid(f"{path.name} holds no Ed25519 key")
    return key
