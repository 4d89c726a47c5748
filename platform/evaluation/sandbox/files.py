"""Moves files into and out of a sandbox's file system; trusts neither names nor kinds nor sizes.

Snapshot: regular files only, in sorted order, with fixed times and owners, so equal trees give equal bytes.
"""

from __future__ import annotations

import os
import stat
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from evaluation.sandbox.spec import InfrastructureFault

# The time stamp of every unpacked file (2020-01-01 UTC): neutral, representable in a ZIP, and what tells
# a file that a run changed from one it left alone.
UNPACKED_AT = 1_577_836_800
MAX_FILES = 10_000
MAX_ENTRIES = 20_000
MAX_DEPTH = 64
MAX_PATH = 1_000  # bytes; what a snapshot holds can be written again below any folder
MAX_REFUSALS, REFUSAL_LENGTH = 100, 200
_READ_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_DIR_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY | os.O_CLOEXEC


class BadArchive(InfrastructureFault):
    """An archive the platform itself stored holds something it must not."""

    code = "bad_archive"


def unpack(source: IO[bytes], target: Path, owner: int, *, max_bytes: int, plain: bool = False) -> None:
    """Unpack a tar of regular files and folders into `target`, owned by `owner`.

    Compression is recognised unless `plain`: a snapshot begins with a name that the harness chose, which
    may look like the first bytes of a compressed archive.

    Raises BadArchive on any other kind of entry, an unsafe name or more than `max_bytes`; nothing
    outside `target` is created.
    """
    left = max_bytes
    made: set[str] = set()
    try:
        with tarfile.open(fileobj=source, mode="r|" if plain else "r|*", errors="surrogateescape") as archive:
            for number, entry in enumerate(archive):
                name = entry.name.removeprefix("./").rstrip("/")
                if name in ("", "."):
                    continue
                left -= entry.size
                if (
                    number > MAX_ENTRIES
                    or left < 0
                    or not _safe(name)
                    or not (entry.isreg() or entry.isdir())
                ):
                    raise BadArchive("entry refused")
                _make_folders(target, name if entry.isdir() else name.rpartition("/")[0], owner, made)
                if entry.isreg():
                    _write_entry(archive, entry, target / name, owner)
    except (tarfile.TarError, EOFError, OSError) as fault:
        raise BadArchive("archive cannot be unpacked") from fault


def _safe(name: str) -> bool:
    parts = name.split("/")
    short = len(parts) <= MAX_DEPTH and len(os.fsencode(name)) <= MAX_PATH
    return short and all(part not in ("", ".", "..") for part in parts) and "\0" not in name


def _make_folders(target: Path, name: str, owner: int, made: set[str]) -> None:
    if not name or name in made:
        return
    _make_folders(target, name.rpartition("/")[0], owner, made)
    path = target / name
    path.mkdir(mode=0o755, exist_ok=True)
    os.chown(path, owner, owner, follow_symlinks=False)
    made.add(name)


def _write_entry(archive: tarfile.TarFile, entry: tarfile.TarInfo, path: Path, owner: int) -> None:
    content = archive.extractfile(entry)
    assert content is not None
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
    fd = os.open(path, flags, 0o755 if entry.mode & 0o100 else 0o644)
    with os.fdopen(fd, "wb") as out:
        while chunk := content.read(1 << 20):
            out.write(chunk)
        os.fchown(fd, owner, owner)
    os.utime(path, (UNPACKED_AT, UNPACKED_AT), follow_symlinks=False)


@dataclass(slots=True)
class Snapshot:
    """What `take` found: the first `refused` lines and how many more, whether anything was left out for size."""

    refused: list[str] = field(default_factory=list)
    more_refused: int = 0
    truncated: bool = False
    files: int = 0
    bytes: int = 0
    largest: int = 0
    entries: int = 0
    wrote: bool = False

    def refuse(self, why: str, name: str) -> None:
        if len(self.refused) >= MAX_REFUSALS:
            self.more_refused += 1
            return
        shown = os.fsencode(name).decode("utf-8", "backslashreplace")
        self.refused.append(f"{why} {shown}"[:REFUSAL_LENGTH])

    def lines(self) -> list[str]:
        """The refusals for the record: at most `MAX_REFUSALS`, and a count of the rest."""
        return self.refused + ([f"and {self.more_refused} more"] if self.more_refused else [])


def take(source: Path, out: IO[bytes], *, max_bytes: int) -> Snapshot:
    """Write a tar of the regular files below `source` to `out`. Call only when no process is left."""
    found = Snapshot()
    root = os.open(source, _DIR_FLAGS)
    try:
        # GNU format keeps names of any bytes as they are.
        with tarfile.open(
            fileobj=out, mode="w", format=tarfile.GNU_FORMAT, errors="surrogateescape"
        ) as archive:
            for name, fd, facts in _walk(root, "", 0, found):
                found.largest = max(found.largest, facts.st_size)
                if found.files >= MAX_FILES or found.bytes + facts.st_size > max_bytes:
                    found.truncated = True
                    found.refuse("size", name)
                    continue
                found.files += 1
                found.bytes += facts.st_size
                entry = tarfile.TarInfo(name)
                entry.size, entry.mode = facts.st_size, 0o644
                with os.fdopen(fd, "rb", closefd=False) as content:
                    archive.addfile(entry, content)
    finally:
        os.close(root)
    return found


def _walk(folder: int, prefix: str, depth: int, found: Snapshot) -> Iterator[tuple[str, int, os.stat_result]]:
    """Yield (name, open descriptor, facts) of acceptable files, in sorted order; record the others."""
    with os.scandir(folder) as entries:
        names = []
        for entry in entries:
            found.entries += 1
            if found.entries > MAX_ENTRIES:
                found.truncated = True
                break
            names.append(entry.name)
    for name in sorted(names, key=os.fsencode):
        shown = prefix + name
        facts = os.stat(name, dir_fd=folder, follow_symlinks=False)
        if len(os.fsencode(shown)) > MAX_PATH:
            found.refuse("path", shown)
        elif stat.S_ISDIR(facts.st_mode):
            if depth + 1 >= MAX_DEPTH:
                found.refuse("depth", shown)
                continue
            inner = os.open(name, _DIR_FLAGS, dir_fd=folder)
            try:
                yield from _walk(inner, shown + "/", depth + 1, found)
            finally:
                os.close(inner)
        elif why := _refusal(facts):
            found.refuse(why, shown)
        else:
            found.wrote = found.wrote or facts.st_mtime != UNPACKED_AT
            fd = os.open(name, _READ_FLAGS, dir_fd=folder)
            try:
                yield shown, fd, facts
            finally:
                os.close(fd)


def _refusal(facts: os.stat_result) -> str | None:
    mode = facts.st_mode
    if stat.S_ISLNK(mode):
        return "link"
    if stat.S_ISFIFO(mode):
        return "fifo"
    if stat.S_ISSOCK(mode):
        return "socket"
    if not stat.S_ISREG(mode):
        return "device"
    return "setuid" if mode & (stat.S_ISUID | stat.S_ISGID) else None


def read_regular(path: Path, limit: int) -> tuple[bytes | None, bool]:
    """(first `limit` bytes, whether there were more) of a regular file; (None, False) if it is not one.

    Looked at before it is opened: to open a device node, which anybody may make, is an error here. Call
    only when no process is left that could change it in between.
    """
    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            return None, False
    except (FileNotFoundError, NotADirectoryError):
        return None, False
    with os.fdopen(os.open(path, _READ_FLAGS), "rb") as stream:
        content = stream.read(limit + 1)
    return content[:limit], len(content) > limit
