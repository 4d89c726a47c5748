"""Encryption at rest: AES-256-GCM in frames of 1 MiB, with keys that are themselves wrapped (RFC 3394).

Layout of a sealed stream: magic, 8 bytes of nonce prefix, then frames of ciphertext and tag. The nonce of a frame is
the prefix and its index; the additional data say whether it is the last one, so that frames can be neither dropped,
swapped nor cut off (the STREAM construction of Hoang, Reyhanitabar, Rogaway and Vizár, 2015).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import BinaryIO

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.keywrap import InvalidUnwrap, aes_key_unwrap, aes_key_wrap

MAGIC = b"LBV1"
PREFIX_BYTES = 8
FRAME_BYTES = 1024 * 1024
TAG_BYTES = 16
KEY_BYTES = 32


class SealBroken(Exception):
    """The stream or key was changed, cut, or sealed under another key."""


def new_key() -> bytes:
    return os.urandom(KEY_BYTES)


def wrap(key: bytes, *, under: bytes) -> bytes:
    """`key` (32 bytes) wrapped under another key, 40 bytes."""
    return aes_key_wrap(under, key)


def unwrap(wrapped: bytes, *, under: bytes) -> bytes:
    """The key again; raises SealBroken."""
    try:
        return aes_key_unwrap(under, bytes(wrapped))
    except InvalidUnwrap as error:
        raise SealBroken("this key does not open that one") from error


def _frames(source: BinaryIO, size: int) -> Iterator[tuple[bytes, bool]]:
    chunk = source.read(size)
    while True:
        following = source.read(size) if len(chunk) == size else b""
        yield chunk, not following
        if not following:
            return
        chunk = following


def _nonce(prefix: bytes, index: int) -> bytes:
    return prefix + index.to_bytes(4, "big")


def seal(source: BinaryIO, target: BinaryIO, *, key: bytes) -> int:
    """Write the sealed form of `source` to `target`; returns the number of bytes written."""
    prefix = os.urandom(PREFIX_BYTES)
    cipher = AESGCM(key)
    written = target.write(MAGIC + prefix)
    for index, (chunk, last) in enumerate(_frames(source, FRAME_BYTES)):
        written += target.write(cipher.encrypt(_nonce(prefix, index), chunk, b"\x01" if last else b"\x00"))
    return written


def open_sealed(source: BinaryIO, target: BinaryIO, *, key: bytes) -> int:
    """Write the plain form of `source` to `target`; returns its length. Raises SealBroken."""
    header = source.read(len(MAGIC) + PREFIX_BYTES)
    if header[: len(MAGIC)] != MAGIC:
        raise SealBroken("not a sealed stream")
    prefix = header[len(MAGIC) :]
    cipher = AESGCM(key)
    written = 0
    for index, (chunk, last) in enumerate(_frames(source, FRAME_BYTES + TAG_BYTES)):
        try:
            written += target.write(
                cipher.decrypt(_nonce(prefix, index), chunk, b"\x01" if last else b"\x00")
            )
        except InvalidTag as error:
            raise SealBroken(f"frame {index} does not open") from error
    return written
