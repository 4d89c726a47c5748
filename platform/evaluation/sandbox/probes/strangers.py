"""Runs INSIDE two sandboxes at once: looks for traces of the other on files both can see. Standard library only.

Usage: strangers.py UNIX_TIME. Both lay their traces before that time and look for the other's after it.
Prints {"late": whether it was too late for the appointment, "seen": what gave the other away}.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import json
import os
import struct
import sys
import time

TIME = float(sys.argv[1])
STEP = 0.1
SHARED = ("/usr/bin/env", "/harness/strangers.py")
ACCESS = 0x21  # IN_ACCESS, IN_OPEN
F_SETLK, F_GETLK, F_OFD_SETLK, F_OFD_GETLK = 6, 5, 37, 36
LOCK = struct.Struct("hhqqi4x")


def lock(kind: int) -> bytes:
    return LOCK.pack(kind, os.SEEK_SET, 0, 1, 0)


def watch(libc: ctypes.CDLL, path: str) -> int | None:
    """An inotify descriptor on `path`, where that can be had."""
    fd = libc.inotify_init1(os.O_NONBLOCK)
    return fd if fd >= 0 and libc.inotify_add_watch(fd, path.encode(), ACCESS) >= 0 else None


def traces(path: str, fd: int, watched: int | None) -> list[str]:
    """What the kernel tells about others on `path`."""
    found = []
    for name, command in (("posix", F_GETLK), ("ofd", F_OFD_GETLK)):
        with contextlib.suppress(OSError):
            if LOCK.unpack(fcntl.fcntl(fd, command, lock(fcntl.F_WRLCK)))[0] != fcntl.F_UNLCK:
                found.append(f"{name} lock on {path}")
    again = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(again, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        found.append(f"flock on {path}")
    with contextlib.suppress(OSError):
        if watched is not None and os.read(watched, 4096):
            found.append(f"access to {path}")
    return found


def main() -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    held = {}
    for path in SHARED:
        fd = os.open(path, os.O_RDONLY)
        for command in (F_SETLK, F_OFD_SETLK):
            with contextlib.suppress(OSError):
                fcntl.fcntl(fd, command, lock(fcntl.F_RDLCK))
        with contextlib.suppress(OSError):
            fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
        held[path] = (fd, watch(libc, path))
    late = time.time() > TIME
    time.sleep(max(0.0, TIME - time.time()))
    seen = [text for path, (fd, watched) in held.items() for text in traces(path, fd, watched)]
    time.sleep(max(0.0, TIME + STEP - time.time()))
    print(json.dumps({"late": late, "seen": seen}))


main()
