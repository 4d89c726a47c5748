"""An image archive from front to back: `inspect` says what it is, `unpack` writes the same tree to disk.

Nothing is written before the tree is known in memory, so no entry can lead another one anywhere: folders come first,
then the files that are left in the end, then links.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from evaluation.images import archive, settings, tree
from evaluation.images.archive import Contents, Layer, Slice
from evaluation.images.findings import ArchiveRule, Finding, shown
from evaluation.images.strict import CHUNK, NAME_BYTES, Meter, Source, checked_name, has_controls, reading
from evaluation.images.tree import Content, Node, Row, Tree

MANIFEST = "harness/harness.toml"
MANIFEST_BYTES = 64 * 1024
WHITEOUT, OPAQUE = ".wh.", ".wh..wh..opq"
SET_ID_BITS = 0o6000
LATEST = 2**32 - 1
"""Seconds; later times are cut to this."""


@dataclass(frozen=True)
class Limits:
    """Bytes of file contents and entries of all layers together, what later layers remove included."""

    packed: int = archive.PACKED
    unpacked: int = 8 * 1024**3
    entries: int = 200_000


LIMITS = Limits()


@dataclass(frozen=True)
class Image:
    """One image that passed. `digest` is that of its configuration, `tree_digest` that of its finished tree."""

    digest: str
    tree_digest: str
    rows: list[Row]
    environment: dict[str, str]
    manifest: bytes
    contents: Contents

    @property
    def unpacked(self) -> int:
        """Bytes of the files of the finished tree, each content once."""
        shared = {id(row.content): row.content.size for row in self.rows if row.content is not None}
        return sum(shared.values())


def inspect(file: BinaryIO, limits: Limits = LIMITS) -> Image:
    """Check the image archive in `file`, seekable and at its start; raises Finding at the first offence."""
    contents = archive.read(file)
    environment = settings.environment(contents.config)
    reader = Reader(limits)
    for number, layer in enumerate(contents.layers):
        reader.read(file, number, layer)
    rows = list(reader.tree.rows())
    tree.require_harmless(rows)
    found = reader.tree.find(MANIFEST)
    if found is None or found.content is None or found.content.name != MANIFEST:
        raise Finding(ArchiveRule.MANIFEST_MISSING)
    if found.content.size > MANIFEST_BYTES:
        detail = f"it is larger than {MANIFEST_BYTES} bytes"
        raise Finding(ArchiveRule.MANIFEST_NOT_TOML, detail=detail)
    manifest = reader.manifests[found.content.source]
    return Image(contents.digest, tree.digest(rows), rows, environment, manifest, contents)


@contextmanager
def layer_tar(file: BinaryIO, layer: Layer, limit: int) -> Iterator[tuple[tarfile.TarFile, Meter]]:
    """The entries of a layer; its tar is compared with its digest at the end. Raises Finding."""
    raw = io.BufferedReader(Slice(file, layer.offset, layer.size), CHUNK)
    hashed = _Hashed(gzip.GzipFile(fileobj=raw, mode="rb") if layer.compressed else raw)
    meter = Meter(hashed, limit)
    with reading(meter) as tar:
        yield tar, meter
    if hashed.sha256.hexdigest() != layer.diff_id:
        raise Finding(ArchiveRule.IMAGE_DIGEST_MISMATCH, entry=shown(layer.name))


class _Hashed:
    def __init__(self, source: Source) -> None:
        self._source = source
        self.sha256 = hashlib.sha256()

    def read(self, size: int = -1, /) -> bytes:
        data = self._source.read(size)
        self.sha256.update(data)
        return data


@dataclass
class Reader:
    """Applies layers to a tree, with every limit."""

    limits: Limits = LIMITS
    tree: Tree = field(default_factory=Tree)
    entries: int = 0
    unpacked: int = 0
    passed: int = 0
    """Bytes of all layers' archives so far, padding included."""
    manifests: dict[tuple[int, int], bytes] = field(default_factory=dict)

    def read(self, file: BinaryIO, number: int, layer: Layer) -> None:
        """One layer, from its first entry to its last byte."""
        seen: set[str] = set()
        bound = self.limits.unpacked + self.limits.entries * 4096 + 1024 * 1024
        with layer_tar(file, layer, bound - self.passed) as (tar, meter):
            for ordinal, member in enumerate(tar):
                meter.entry = member.name
                self._count(member)
                name = checked_name(member.name)
                if name in seen:
                    raise Finding(ArchiveRule.ENTRY_DUPLICATE, entry=shown(member.name))
                seen.add(name)
                self._take(tar, member, name, (number, ordinal))
        self.passed += meter.count

    def _count(self, member: tarfile.TarInfo) -> None:
        self.entries += 1
        if self.entries > self.limits.entries:
            rule, limit = ArchiveRule.PACKAGE_TOO_MANY_ENTRIES, self.limits.entries
            raise Finding(rule, limit=limit, entry=shown(member.name))
        regular = member.isreg() or member.isdir() or member.issym() or member.islnk()
        if not regular or member.issparse():
            raise Finding(ArchiveRule.ENTRY_DEVICE, entry=shown(member.name))
        self.unpacked += member.size if member.isreg() else 0
        if self.unpacked > self.limits.unpacked or member.size < 0:
            rule, limit = ArchiveRule.PACKAGE_UNPACKED_TOO_LARGE, self.limits.unpacked
            raise Finding(rule, limit=limit, entry=shown(member.name))

    def _take(self, tar: tarfile.TarFile, member: tarfile.TarInfo, name: str, at: tuple[int, int]) -> None:
        leaf = name.rpartition("/")[2]
        if leaf.startswith(WHITEOUT):
            self._white_out(member, name, leaf, at[0])
        elif member.isdir():
            self.tree.put_folder(name, at[0], member.name)
        elif not name:
            raise Finding(ArchiveRule.ENTRY_NAME_INVALID, entry=shown(member.name))
        elif member.issym():
            target = member.linkname
            if not target or len(target.encode("utf-8", "replace")) > NAME_BYTES or has_controls(target):
                raise Finding(ArchiveRule.ENTRY_LINK_LEAVES_TREE, entry=shown(member.name))
            self.tree.put(name, Node(at[0], target=target, mtime=_time(member)), member.name)
        elif member.islnk():
            self.tree.put(name, Node(at[0], content=self._linked(member, name)), member.name)
        else:
            self.tree.put(name, Node(at[0], content=self._content(tar, member, name, at)), member.name)

    def _white_out(self, member: tarfile.TarInfo, name: str, leaf: str, layer: int) -> None:
        """`.wh.NAME` or the opaque mark; every other name with that beginning is reserved (layer.md)."""
        above = name.rpartition("/")[0]
        hidden = leaf.removeprefix(WHITEOUT)
        if leaf == OPAQUE and member.isreg() and member.size == 0:
            self.tree.make_opaque(above, layer)
            return
        if not member.isreg() or member.size or hidden in ("", ".", "..") or hidden.startswith(WHITEOUT):
            raise Finding(ArchiveRule.IMAGE_WHITEOUT_INVALID, entry=shown(member.name))
        self.tree.white_out(f"{above}/{hidden}" if above else hidden, layer)

    def _linked(self, member: tarfile.TarInfo, name: str) -> Content:
        """A hard link names a regular file that is there already, in this layer or a lower one."""
        try:
            target = checked_name(member.linkname.lstrip("/"))
        except Finding:
            target = ""
        found = self.tree.find(target) if target != name else None
        if found is None or found.content is None:
            raise Finding(ArchiveRule.ENTRY_HARD_LINK_LEAVES_TREE, entry=shown(member.name))
        return found.content

    def _content(
        self, tar: tarfile.TarFile, member: tarfile.TarInfo, name: str, at: tuple[int, int]
    ) -> Content:
        digest, kept = hashlib.sha256(), b""
        for chunk in chunks(tar, member):
            digest.update(chunk)
            if name == MANIFEST and member.size <= MANIFEST_BYTES:
                kept += chunk
        if name == MANIFEST:
            self.manifests[at] = kept
        return Content(
            source=at,
            name=name,
            size=member.size,
            sha256=digest.hexdigest(),
            executable=bool(member.mode & 0o100),
            mtime=_time(member),
            set_id=bool(member.mode & SET_ID_BITS),
            capable=any(key.endswith(".security.capability") for key in member.pax_headers),
        )


def chunks(tar: tarfile.TarFile, member: tarfile.TarInfo) -> Iterator[bytes]:
    """A regular member's content, to its end."""
    source = tar.extractfile(member)
    while source is not None and (chunk := source.read(CHUNK)):
        yield chunk


def _time(member: tarfile.TarInfo) -> int:
    return min(max(int(member.mtime), 0), LATEST)


def unpack(file: BinaryIO, image: Image, target: Path) -> None:
    """Write the finished tree of `image`, which `inspect` read from the same `file`, into the empty folder `target`.

    Of permissions only whether the owner may execute a file is kept; everything can be read by everybody. Raises
    Finding where the archive changed in between, OSError where the disk has no room.
    """
    for row in image.rows:
        if row.kind == "dir":
            (target / row.name).mkdir(mode=0o755)
    _write_files(file, image, target)
    for row in image.rows:
        if row.kind == "link":
            path = target / row.name
            path.symlink_to(row.target)
            os.utime(path, (row.mtime, row.mtime), follow_symlinks=False)
    for row in reversed(image.rows):
        if row.kind == "dir":
            (target / row.name).chmod(0o755)
            os.utime(target / row.name, (0, 0))
    target.chmod(0o755)
    os.utime(target, (0, 0))


def _write_files(file: BinaryIO, image: Image, target: Path) -> None:
    """Each content once, under the first of its names; the others become hard links."""
    wanted: dict[int, dict[int, tuple[Content, list[str]]]] = {}
    for row in image.rows:
        if row.content is not None:
            at, ordinal = row.content.source
            wanted.setdefault(at, {}).setdefault(ordinal, (row.content, []))[1].append(row.name)
        elif row.kind == "file":
            _write(target / row.name, iter(()), Content((-1, -1), row.name, sha256=tree.EMPTY))
    for number, layer in enumerate(image.contents.layers):
        here = wanted.get(number)
        if not here:
            continue
        with layer_tar(file, layer, LIMITS.unpacked * 2) as (tar, _):
            for ordinal, member in enumerate(tar):
                if ordinal in here:
                    content, (first, *others) = here[ordinal]
                    _write(target / first, chunks(tar, member), content)
                    for name in others:
                        os.link(target / first, target / name)


def _write(path: Path, source: Iterator[bytes], content: Content) -> None:
    digest = hashlib.sha256()
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(path, flags, 0o600), "wb") as out:
        for chunk in source:
            digest.update(chunk)
            out.write(chunk)
        out.flush()
        os.fchmod(out.fileno(), 0o755 if content.executable else 0o644)
        os.utime(out.fileno(), (content.mtime, content.mtime))
    if digest.hexdigest() != content.sha256:
        raise Finding(ArchiveRule.IMAGE_DIGEST_MISMATCH, entry=shown(content.name))
