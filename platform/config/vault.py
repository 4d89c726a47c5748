"""Encryption at rest: AES-256-GCM in frames of 1 MiB, with keys that are themselves wrapped (RFC 3394).

Layout of a sealed stream: magic, 8 bytes of nonce prefix, then frames of ciphertext and tag. The nonce of a frame is
the prefix and its index; the additional data say whether it is the last one, so that frames can be neither dropped,
swapped nor cut off (the STREAM construction of Hoang, Reyhanitabar, Rogaway and Vizár, 2015).

What a process may write and never read is put into a box: sealed to a public key (X25519, HKDF-SHA-256, AES-256-GCM),
opened with the private one, which that process does not hold.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import BinaryIO

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.keywrap import InvalidUnwrap, aes_key_unwrap, aes_key_wrap

MAGIC = b"LBV1"
BOX_MAGIC = b"LBB1"
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


def public_key(private: bytes) -> bytes:
    """The key to which boxes are sealed that this private key opens."""
    return X25519PrivateKey.from_private_bytes(private).public_key().public_bytes_raw()


def box(secret: bytes, *, to: bytes, about: bytes) -> bytes:
    """`secret` so that only the holder of the private key reads it, and only as what it is `about`."""
    once = X25519PrivateKey.generate()
    sender = once.public_key().public_bytes_raw()
    key = _box_key(once.exchange(X25519PublicKey.from_public_bytes(to)), sender + to)
    # The key is used this once, so the nonce may be fixed.
    return BOX_MAGIC + sender + AESGCM(key).encrypt(bytes(12), secret, about)


def open_box(boxed: bytes, *, private: bytes, about: bytes) -> bytes:
    """The secret again. Raises SealBroken for another key, another subject, or a changed box."""
    boxed = bytes(boxed)
    if boxed[: len(BOX_MAGIC)] != BOX_MAGIC or len(boxed) < len(BOX_MAGIC) + KEY_BYTES + TAG_BYTES:
        raise SealBroken("not a box")
    sender = boxed[len(BOX_MAGIC) : len(BOX_MAGIC) + KEY_BYTES]
    holder = X25519PrivateKey.from_private_bytes(private)
    try:
        shared = holder.exchange(X25519PublicKey.from_public_bytes(sender))
        key = _box_key(shared, sender + holder.public_key().public_bytes_raw())
        return AESGCM(key).decrypt(bytes(12), boxed[len(BOX_MAGIC) + KEY_BYTES :], about)
    except (InvalidTag, ValueError) as error:
        raise SealBroken("the box does not open") from error


def _box_key(shared: bytes, context: bytes) -> bytes:
    return HKDF(algorithm=SHA256(), length=KEY_BYTES, salt=None, info=BOX_MAGIC + context).derive(shared)
