"""A worker's private folder, and those that killed workers of this host left behind.

Beside each folder lies a lock that its worker, and what it started, hold as long as they live. Whoever can take the
lock of a folder knows that nobody is left who uses it.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import os
import shutil
from pathlib import Path

from config.ids import opaque_id


def take_place(root: Path) -> Path:
    """A new folder below `root`, gone with this process; its name can be seen inside episodes, and so says nothing."""
    root.mkdir(parents=True, exist_ok=True)
    place = root / opaque_id().hex
    lock = os.open(_lock_of(place), os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)
    place.mkdir(mode=0o711)
    atexit.register(_remove, place)
    return place


def clear_left(root: Path) -> int:
    """Remove the folders of workers that are dead; returns how many."""
    cleared = 0
    for path in root.glob("*.lock"):
        with contextlib.suppress(OSError), path.open() as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _remove(path.with_suffix(""))
            cleared += 1
    return cleared


def _lock_of(place: Path) -> Path:
    return place.with_suffix(".lock")


def _remove(place: Path) -> None:
    shutil.rmtree(place, ignore_errors=True)
    _lock_of(place).unlink(missing_ok=True)
