"""Rows of behaviour and masks over tasks as bytes, and back."""

from __future__ import annotations

import hashlib
import zlib

import numpy as np

from governance.detection.behaviour import DTYPE, Rows
from governance.detection.tasks import Mask

LEVEL = 6


def packed(rows: Rows) -> bytes:
    """Column by column, compressed: like stands beside like, and most columns take few values."""
    assert DTYPE.names is not None
    return zlib.compress(b"".join(np.ascontiguousarray(rows[name]).tobytes() for name in DTYPE.names), LEVEL)


def unpacked(data: bytes | memoryview[int], tasks: int) -> Rows:
    """What `packed` made of so many rows; raises ValueError or zlib.error for anything else."""
    plain = zlib.decompress(bytes(data))
    if len(plain) != tasks * DTYPE.itemsize:
        raise ValueError(f"no behaviour of {tasks} tasks")
    rows = np.zeros(tasks, dtype=DTYPE)
    at = 0
    for name in DTYPE.names or ():
        size = tasks * DTYPE[name].itemsize
        rows[name] = np.frombuffer(plain, dtype=DTYPE[name], count=tasks, offset=at)
        at += size
    return rows


def digest(rows: Rows) -> str:
    """SHA-256 of the rows, in hex."""
    return hashlib.sha256(rows.tobytes()).hexdigest()


def mask_bytes(mask: Mask) -> bytes:
    """One bit a task."""
    return np.packbits(mask).tobytes()


def mask_of(data: bytes | memoryview[int], tasks: int) -> Mask:
    """What `mask_bytes` made of a mask over so many tasks."""
    return np.unpackbits(np.frombuffer(bytes(data), dtype=np.uint8), count=tasks).astype(bool)
