"""Unpacked images of one host, by digest: made once, looked at before each use, dropped by size, shared by its workers.

Layout below the base folder: `NAME/` is a tree; `.NAME.json` what is known of it; `.NAME.lock` its lock, held shared by
each user and alone by who makes or removes it (flock: the kernel lets go when a process dies); `.NAME.make` lets one
make it at a time; `.NAME.new/` is one in the making. An episode can see NAME in its mount table, so it is a keyed
digest, with a key that this host alone knows.

A look before each use compares kind, size, inode, times and owner of every entry with what was there after unpacking:
the time of the last change of an inode cannot be set by who writes to it. All contents are read and compared when a
process first uses a tree, and every hour after that.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import hmac
import json
import os
import secrets
import shutil
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from evaluation.images import tree
from evaluation.images.tree import Row

FULL_SECONDS = 3600.0
ALONE_SECONDS = 30.0
"""How long one that makes a tree waits for others that look at what is there."""
_KEY = ".key"
_CHUNK = 1 << 20


class TreeChanged(OSError):
    """An unpacked tree is not what was unpacked, and is in use elsewhere, so that it cannot be made again now."""


@dataclass(frozen=True)
class Made:
    """What `make` wrote: its rows, of which the digest was promised, and the image's own variables."""

    rows: list[Row]
    environment: dict[str, str]


@dataclass(frozen=True)
class Held:
    """A tree that stays while it is held."""

    path: Path
    digest: str
    environment: dict[str, str]


Make = Callable[[Path], Made]


@dataclass
class RootCache:
    """Trees below `base`, of at most `limit` bytes together as far as they are not in use."""

    base: Path
    limit: int
    _proved: dict[str, float] = field(default_factory=dict)
    """Name → when this process last read all of it (monotonic seconds)."""

    @contextmanager
    def hold(self, digest: str, size: int, make: Make) -> Iterator[Held]:
        """The tree with that digest, made by `make` in an empty folder where it is missing or was changed.

        `size` is about how many bytes it takes. Raises OSError where the disk has no room, whatever `make` raises, and
        ValueError where what it made has another digest.
        """
        self.base.mkdir(parents=True, exist_ok=True)
        self.base.chmod(0o711)
        name = self._name(digest)
        with self._lock(name) as lock:
            while True:
                fcntl.flock(lock, fcntl.LOCK_SH)
                facts = self._known(name)
                if facts is not None and self._is_whole(name, facts):
                    break
                fcntl.flock(lock, fcntl.LOCK_UN)
                with self._lock(name, "make") as making:
                    fcntl.flock(making, fcntl.LOCK_EX)
                    self._remake(lock, name, digest, size, make)
            os.utime(lock)
            yield Held(self.base / name, digest, facts["environment"])

    def _remake(self, lock: int, name: str, digest: str, size: int, make: Make) -> None:
        """Make the tree unless another process did meanwhile. The caller is the only one that makes it."""
        facts = self._known(name)
        if facts is not None and self._is_whole(name, facts):
            return
        _take_alone(lock)
        try:
            self._remove(name)
            self._make_room(size, name)
            fresh = self.base / f".{name}.new"
            fresh.mkdir(mode=0o700)
            made = make(fresh)
            if tree.digest(made.rows) != digest:
                raise ValueError("the tree has another digest than was promised")
            fresh.rename(self.base / name)
            self._note(name, digest, made)
        except BaseException:
            self._remove(name)
            raise
        finally:
            fcntl.flock(lock, fcntl.LOCK_UN)

    def _name(self, digest: str) -> str:
        return hmac.new(self._key(), digest.encode(), hashlib.sha256).hexdigest()[:32]

    def _key(self) -> bytes:
        """The host's own, made by whoever comes first."""
        path = self.base / _KEY
        with contextlib.suppress(FileNotFoundError):
            return path.read_bytes()
        fresh = self.base / f"{_KEY}.{secrets.token_hex(8)}"
        fresh.touch(mode=0o600)
        fresh.write_bytes(secrets.token_bytes(32))
        with contextlib.suppress(FileExistsError):
            os.link(fresh, path)
        fresh.unlink()
        return path.read_bytes()

    @contextmanager
    def _lock(self, name: str, kind: str = "lock") -> Iterator[int]:
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
        lock = os.open(self.base / f".{name}.{kind}", flags, 0o600)
        try:
            yield lock
        finally:
            os.close(lock)

    def _known(self, name: str) -> dict | None:
        try:
            found = json.loads((self.base / f".{name}.json").read_bytes())
        except (FileNotFoundError, ValueError):
            return None
        return found if isinstance(found, dict) and (self.base / name).is_dir() else None

    def _note(self, name: str, digest: str, made: Made) -> None:
        """Written last: a tree without it is not there."""
        facts, size = _facts(self.base / name)
        note = {
            "digest": digest,
            "facts": facts,
            "size": size,
            "contents": _contents(self.base / name),
            "environment": made.environment,
        }
        fresh = self.base / f".{name}.part"
        fresh.touch(mode=0o600)
        fresh.write_text(json.dumps(note))
        fresh.replace(self.base / f".{name}.json")
        self._proved[name] = time.monotonic()

    def _is_whole(self, name: str, note: dict) -> bool:
        """Whether the tree is what was unpacked: by its entries each time, by all its bytes at times."""
        try:
            if _facts(self.base / name)[0] != note["facts"]:
                return False
            now = time.monotonic()
            if now - self._proved.get(name, now - FULL_SECONDS) >= FULL_SECONDS:
                if _contents(self.base / name) != note["contents"]:
                    return False
                self._proved[name] = now
        except FileNotFoundError:
            return False
        return True

    def _remove(self, name: str) -> None:
        """Only while holding its lock alone. The note goes first: what is left of it then is not there."""
        (self.base / f".{name}.json").unlink(missing_ok=True)
        for path in (self.base / name, self.base / f".{name}.new"):
            shutil.rmtree(path, ignore_errors=True)
        self._proved.pop(name, None)

    def _make_room(self, size: int, besides: str) -> None:
        """Drop what a lost process left half made, then the longest unused trees, until `size` fits the limit."""
        kept: list[tuple[float, int, str]] = []
        for path in self.base.glob(".*.lock"):
            name = path.name[1 : -len(".lock")]
            note = self._known(name)
            if name != besides and note is None:
                self._drop(name)
            elif name != besides and note is not None:
                kept.append((path.stat().st_mtime, int(note["size"]), name))
        total = size + sum(taken for _, taken, _ in kept)
        for _, taken, name in sorted(kept):
            if total <= self.limit and shutil.disk_usage(self.base).free > size:
                return
            if self._drop(name):
                total -= taken
        if shutil.disk_usage(self.base).free <= size:
            raise OSError(errno.ENOSPC, "no room for an unpacked image")

    def _drop(self, name: str) -> bool:
        """Remove a tree unless somebody holds it."""
        with self._lock(name) as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
            self._remove(name)
        return True


def _take_alone(lock: int) -> None:
    """Wait for those who only look; raises TreeChanged where somebody uses what has to be made again."""
    until = time.monotonic() + ALONE_SECONDS
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > until:
                raise TreeChanged(errno.EIO, "an unpacked image was changed while others use it") from None
            time.sleep(0.05)
        else:
            return


def _entries(root: Path) -> Iterator[tuple[str, os.stat_result]]:
    """Every entry below `root` and itself, in a fixed order: (path from it, lstat)."""
    yield "", root.lstat()
    waiting = [""]
    while waiting:
        above = waiting.pop()
        with os.scandir(root / above if above else root) as found:
            for entry in sorted(found, key=lambda item: item.name):
                name = f"{above}/{entry.name}" if above else entry.name
                facts = entry.stat(follow_symlinks=False)
                yield name, facts
                if stat.S_ISDIR(facts.st_mode):
                    waiting.append(name)


def _facts(root: Path) -> tuple[str, int]:
    """(digest over what the file system says of every entry, bytes of all files)."""
    found, size = hashlib.sha256(), 0
    for name, facts in _entries(root):
        row = (facts.st_mode, facts.st_size, facts.st_ino, facts.st_uid, facts.st_mtime_ns, facts.st_ctime_ns)
        found.update(os.fsencode(name) + b"\0" + repr(row).encode() + b"\n")
        size += facts.st_size if stat.S_ISREG(facts.st_mode) else 0
    return found.hexdigest(), size


def _contents(root: Path) -> str:
    """Digest over the content of every file and the target of every link."""
    found = hashlib.sha256()
    for name, facts in _entries(root):
        found.update(os.fsencode(name) + b"\0")
        if stat.S_ISLNK(facts.st_mode):
            found.update(os.fsencode((root / name).readlink()) + b"\0")
        elif stat.S_ISREG(facts.st_mode):
            with (root / name).open("rb") as file:
                found.update(hashlib.file_digest(file, "sha256").digest())
    return found.hexdigest()
