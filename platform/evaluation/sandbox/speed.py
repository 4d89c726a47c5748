"""How fast this host is: a fixed computation on one core, a flushed write to one file. No Django.

Both take the best of several short tries, which is what the machine can do; a single one says how busy it was.
"""

from __future__ import annotations

import hashlib
import os
import platform
import tempfile
import time
from pathlib import Path

_ROUNDS = 40
_BLOCK = bytes(range(256)) * 256
_TRIES = 5
_DISK_BYTES = 4 << 20
_IDLE = 0.5
_LOOK_SECONDS = 0.25


def machine() -> str:
    """Digest of what a measurement holds for: processor model, how many, architecture."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    model = next((line for line in lines if line.startswith(("model name", "CPU part"))), "")
    return hashlib.sha256(f"{platform.machine()} {os.cpu_count()} {model}".encode()).hexdigest()[:32]


def rests(seconds: float) -> bool:
    """Wait, at most so long, until half of the machine is idle; whether it came to that."""
    until = time.monotonic() + seconds
    while True:
        before = _ticks()
        time.sleep(_LOOK_SECONDS)
        idle, total = (now - then for now, then in zip(_ticks(), before, strict=True))
        if total and idle / total >= _IDLE:
            return True
        if time.monotonic() >= until:
            return False


def _ticks() -> tuple[int, int]:
    """(idle, all) processor ticks of the whole machine since it started."""
    fields = [int(field) for field in Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
    return fields[3] + fields[4], sum(fields)


def processor() -> float:
    """Rounds of the fixed computation (BLAKE2 over 64 KiB, interpreted arithmetic) that one core does in a second."""
    return _ROUNDS / min(_computation() for _ in range(_TRIES))


def _computation() -> float:
    began = time.thread_time()
    for number in range(_ROUNDS):
        digest = hashlib.blake2b(_BLOCK, digest_size=8).digest()
        value = int.from_bytes(digest, "big")
        for _ in range(4000):
            value = (value * 6364136223846793005 + number) & 0xFFFFFFFFFFFFFFFF
    return time.thread_time() - began


def disk(folder: Path) -> float:
    """MiB in a second that a file in `folder` takes, written in one go and flushed."""
    block = os.urandom(_DISK_BYTES)
    best = min(_write(folder, block) for _ in range(_TRIES))
    return _DISK_BYTES / (1 << 20) / best


def _write(folder: Path, block: bytes) -> float:
    with tempfile.TemporaryFile(dir=folder, buffering=0) as file:
        began = time.monotonic()
        file.write(block)
        os.fsync(file.fileno())
        return time.monotonic() - began
