"""Runs INSIDE a sandbox and runs into one limit; prints what it could get. Standard library only.

Usage: limits.py memory | pair MIB | counts | disk | cpu | deadline TOKEN
"""

# A probe speaks to the kernel as directly as it can.
# ruff: noqa: PTH108, PTH118, PTH123

from __future__ import annotations

import errno
import json
import os
import resource
import signal
import sys
import time

STEP = 1 << 20


def say(**figures: object) -> None:
    os.write(1, (json.dumps(figures) + "\n").encode())


def memory() -> None:
    """Touch memory MiB by MiB until it is refused or the process is killed."""
    kept = []
    try:
        while True:
            kept.append(bytearray(b"x") * STEP)
            os.write(1, b"m")
    except MemoryError:
        kept.clear()
        say(refused=True)


def pair() -> None:
    """Two processes hold the given MiB each at once: only a bound of the whole group refuses that."""
    children = []
    reader, writer = os.pipe()
    for _ in range(2):
        pid = os.fork()
        if pid == 0:
            kept = bytearray(b"x") * (int(sys.argv[2]) * STEP)
            os.write(writer, b"h")
            time.sleep(0 if not kept else 60)
        children.append(pid)
    os.close(writer)
    held = b""
    while len(held) < 2 and (chunk := os.read(reader, 1)):
        held += chunk
        if os.waitpid(-1, os.WNOHANG)[0]:
            break
    for pid in children:
        os.kill(pid, signal.SIGKILL)
    say(held=len(held))


def counts() -> None:
    """Descriptors and processes."""
    kept = []
    try:
        while True:
            kept.append(os.dup(0))
    except OSError as fault:
        say(descriptors=kept[-1] + 1, errno=errno.errorcode[fault.errno or 0])
    for fd in kept:
        os.close(fd)
    children: list[int] = []
    try:
        while len(children) < 5000:
            pid = os.fork()
            if pid == 0:
                signal.pause()
                os._exit(0)
            children.append(pid)
    except OSError as fault:
        say(processes=len(children) + 1, errno=errno.errorcode[fault.errno or 0])
    say(core=resource.getrlimit(resource.RLIMIT_CORE)[0])


def disk() -> None:
    """One file up to its cap, then files until the file system is full, for each writable place."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    for place in sys.argv[2:]:
        first, total = 0, 0
        names: list[str] = []
        try:
            for number in range(64):
                name = os.path.join(place, f"fill{number}")
                names.append(name)
                size = fill(name)
                total += size
                first = first or size
                if size == 0:
                    break
        finally:
            for name in [] if place == "/workspace" else names:
                os.unlink(name)
        say(place=place, file_bytes=first, total=total)


def fill(name: str) -> int:
    block = b"x" * STEP
    size = 0
    with open(name, "wb", buffering=0) as file:
        while True:
            try:
                size += file.write(block)
            except OSError as fault:
                if fault.errno in (errno.ENOSPC, errno.EFBIG):
                    return size
                raise


def cpu() -> None:
    """Two busy processes for 0.4 s of wall time; prints the CPU seconds they got."""
    until = time.monotonic() + 0.4
    child = os.fork()
    while time.monotonic() < until:
        pass
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    say(cpu=time.process_time() + sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2]), wall=0.4)


def deadline() -> None:
    """A grandchild in its own session that ignores what it may, carrying a token in its command line."""
    for _ in range(2):
        if os.fork():
            time.sleep(3600)
        os.setsid()
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    say(started=sys.argv[2])
    sleep = "import time; time.sleep(3600)"
    os.execv(sys.executable, ["python3", "-I", "-S", "-c", sleep, sys.argv[2]])  # noqa: S606


globals()[sys.argv[1]]()
