"""What people typed, as events carry it: never the words, only a salted hash that those who have them can check."""

from __future__ import annotations

import hashlib
import secrets
import unicodedata
from hmac import compare_digest

SALT_BYTES = 16


def concealed(text: str) -> str:
    """`<salt>:<digest>` in hex, the digest being SHA-256(salt ‖ UTF-8 of the text in NFC).

    The salt is new each time, so that neither equal texts nor short ones show before the event is disclosed.
    """
    salt = secrets.token_bytes(SALT_BYTES)
    return f"{salt.hex()}:{_digest(salt, text)}"


def is_of(concealment: str, text: str) -> bool:
    """Whether an event that carries `concealment` was about this text."""
    salt, _, digest = concealment.partition(":")
    return compare_digest(digest, _digest(bytes.fromhex(salt), text))


def _digest(salt: bytes, text: str) -> str:
    return hashlib.sha256(salt + unicodedata.normalize("NFC", text).encode()).hexdigest()
