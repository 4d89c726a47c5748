"""The text of a personal token: `lgb_`, 36 random characters, and a checksum of 6. Only a hash of it is stored.

By the checksum a token that was copied badly is told from one that is unknown without asking the database, and a
scanner of public repositories can tell a token from what looks like one.
Tokens of the first release have no checksum: `lgb_` and 64 hexadecimal digits. They work until they expire.
"""

from __future__ import annotations

import re
import secrets
import string
from zlib import crc32

PREFIX = "lgb_"
ALPHABET = string.digits + string.ascii_uppercase + string.ascii_lowercase
RANDOM = 36
"""Characters of the body: 214 bits."""
CHECKSUM = 6
"""Characters that hold any 32 bits in base 62."""

_PRESENT = re.compile(rf"{PREFIX}[0-9A-Za-z]{{{RANDOM + CHECKSUM}}}")
_FIRST_RELEASE = re.compile(rf"{PREFIX}[0-9a-f]{{64}}")


def new_text() -> str:
    """A new token's text."""
    body = "".join(secrets.choice(ALPHABET) for _ in range(RANDOM))
    return PREFIX + body + checksum(PREFIX + body)


def checksum(text: str) -> str:
    """CRC-32 (ISO-HDLC, as in zlib) of `text` in base 62, the most significant digit first."""
    number, digits = crc32(text.encode()), ""
    for _ in range(CHECKSUM):
        number, digit = divmod(number, len(ALPHABET))
        digits = ALPHABET[digit] + digits
    return digits


def well_formed(text: str) -> bool:
    """Whether this can be a token at all."""
    if _FIRST_RELEASE.fullmatch(text):
        return True
    return bool(_PRESENT.fullmatch(text)) and checksum(text[:-CHECKSUM]) == text[-CHECKSUM:]
