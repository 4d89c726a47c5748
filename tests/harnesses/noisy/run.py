"""Reads everything, then makes as much noise about it as a sandbox lets it. Standard library only."""

import hashlib
import json
import os
import re
import sys
import time
from pathlib import Path

TASK = Path(os.environ.get("TASK_DIR", "/task"))
WORKSPACE = Path(os.environ.get("WORKSPACE_DIR", "/workspace"))
HERE = Path(os.environ.get("HARNESS_DIR", "/harness"))
SCALE = float(os.environ.get("NOISY_SCALE") or json.loads((HERE / "settings.json").read_text())["scale"])
MIB = 1 << 20


class Heard(Exception):
    """Carries what was read, so that a traceback repeats it."""


def read_all() -> bytes:
    """Statement, later turns and every file of the workspace, one after the other."""
    paths = [TASK / "instruction.md", *sorted((TASK / "turns").glob("*"))]
    paths += sorted(path for path in WORKSPACE.rglob("*") if path.is_file())
    return b"\n".join(
        path.name.encode("utf-8", "surrogateescape") + b"\n" + path.read_bytes() for path in paths
    )


def write_reply() -> None:
    """A short reply before anything else: the run must count as one that answered."""
    Path(os.environ.get("REPLY_FILE", "/reply/reply.md")).write_text("已收到，处理中。\n", encoding="utf-8")


def print_all(heard: bytes) -> None:
    for stream in (sys.stdout.buffer, sys.stderr.buffer):
        stream.write(heard)
        stream.flush()


def name_files(heard: bytes) -> None:
    """Files and folders whose names are what was read, and a link that points to it."""
    words = re.findall(r"[\w.-]{4,60}", heard.decode("utf-8", "replace"))[:40]
    for word in words:
        name = word.encode()[:200].decode("utf-8", "ignore")
        (WORKSPACE / f"听到_{name}.txt").write_text(name, encoding="utf-8")
    if words:
        (WORKSPACE / "link").unlink(missing_ok=True)
        (WORKSPACE / "link").symlink_to(f"/{words[-1]}")


def raise_it(heard: bytes) -> None:
    raise Heard(heard.decode("utf-8", "replace"))


def flood(heard: bytes) -> None:
    """The input again and again, 64 MiB of it."""
    block = (heard or b"x") * (MIB // max(1, len(heard)) + 1)
    for _ in range(int(64 * SCALE)):
        sys.stdout.buffer.write(block)


def fork(heard: bytes) -> None:
    """More children than the limit allows; each takes a piece of the input as its own output."""
    children = []
    for number in range(int(400 * SCALE)):
        try:
            pid = os.fork()
        except OSError:
            break
        if pid == 0:
            os.write(2, heard[number * 16 : number * 16 + 16])
            time.sleep(0.2)
            os._exit(0)
        children.append(pid)
    for pid in children:
        os.waitpid(pid, 0)


def burn(heard: bytes) -> None:
    """Between 0.2 and 2 s, to the millisecond a number that follows from the input."""
    number = int.from_bytes(hashlib.sha256(b"burn" + heard).digest()[:4], "big")
    until = time.monotonic() + SCALE * (0.2 + number % 1800 / 1000)
    while time.monotonic() < until:
        pass


def fill(heard: bytes) -> None:
    """Write until the disk is full (or 512 MiB), then give most of it back."""
    block = (heard or b"x") * (MIB // max(1, len(heard)) + 1)
    made = []
    try:
        for number in range(int(512 * SCALE)):
            path = WORKSPACE / f"block{number}"
            made.append(path)
            path.write_bytes(block)
    except OSError as fault:
        print(fault, heard[:100])
    for path in made[1:]:
        path.unlink(missing_ok=True)


def odd_exit(heard: bytes) -> None:
    os._exit(hashlib.sha256(b"exit" + heard).digest()[0])


ACTS = (raise_it, flood, fork, burn, fill, odd_exit)


def main() -> None:
    write_reply()
    heard = read_all()
    print_all(heard)
    name_files(heard)
    ACTS[hashlib.sha256(heard).digest()[0] % len(ACTS)](heard)


main()
