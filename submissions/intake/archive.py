"""Reading a bundle once from front to end, with every limit of the contract; the first offending entry is named.

The archive is read by the same module that workers unpack it with, so both see the same entries.
"""

from __future__ import annotations

import gzip
import posixpath
import tarfile
import unicodedata
from dataclasses import dataclass, field
from typing import BinaryIO

from evaluation.images.strict import NAME_BYTES, Meter, checked_name, has_controls, reading
from submissions.intake.findings import Finding, shown
from submissions.intake.rules import Rule

MANIFEST = "harness.toml"
MANIFEST_BYTES = 64 * 1024
IMAGE_MARKERS = frozenset({"oci-layout", "index.json", "manifest.json", "repositories"})
SET_ID_BITS = 0o6000
LINK_HOPS = 40


@dataclass(frozen=True)
class Limits:
    """Bytes and counts of harness-contract version 1."""

    packed: int = 512 * 1024 * 1024
    unpacked: int = 2 * 1024 * 1024 * 1024
    entries: int = 50_000


LIMITS = Limits()


@dataclass
class Archive:
    """What a bundle holds. `unpacked` in bytes of file contents."""

    entries: int = 0
    unpacked: int = 0
    manifest: bytes | None = None
    kinds: dict[str, str] = field(default_factory=dict)
    """Folded name → file, dir, link."""
    links: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Folded name of each symbolic link → its folded target, and its name as written."""
    roots: set[str] = field(default_factory=set)


def inspect(source: BinaryIO, limits: Limits = LIMITS) -> Archive:
    """Check the bundle in `source`, a seekable file at its start; raises Finding at the first offence."""
    _require_gzip(source)
    # Headers and padding of 50,000 entries, long names included, stay below this on top of the contents.
    stream = gzip.GzipFile(fileobj=source, mode="rb")
    meter = Meter(stream, limits.unpacked + limits.entries * 4096 + 1024 * 1024)
    archive = Archive()
    with reading(meter) as tar:
        for member in tar:
            meter.entry = member.name
            _take(archive, tar, member, limits)
    _check_links(archive)
    if archive.manifest is None:
        if archive.roots & IMAGE_MARKERS:
            raise Finding(Rule.IMAGE_COMPRESSED)
        raise Finding(Rule.MANIFEST_MISSING)
    return archive


def _require_gzip(source: BinaryIO) -> None:
    start = source.read(2)
    source.seek(0)
    if start[:2] != b"\x1f\x8b":
        raise Finding(Rule.PACKAGE_NOT_GZIP)


def _take(archive: Archive, tar: tarfile.TarFile, member: tarfile.TarInfo, limits: Limits) -> None:
    archive.entries += 1
    if archive.entries > limits.entries:
        raise Finding(Rule.PACKAGE_TOO_MANY_ENTRIES, limit=limits.entries, entry=shown(member.name))
    name = _checked_name(member.name)
    folded = _fold(name)
    if not (member.isreg() or member.isdir() or member.issym() or member.islnk()) or member.issparse():
        raise Finding(Rule.ENTRY_DEVICE, entry=shown(member.name))
    if member.mode & SET_ID_BITS and not member.isdir():
        raise Finding(Rule.ENTRY_SETUID, entry=shown(member.name))
    _place(archive, member, folded)
    if member.issym():
        _check_symlink(archive, member, folded)
    elif member.islnk():
        _check_hard_link(archive, member)
    elif member.isreg():
        _read_file(archive, tar, member, name, limits)


def _checked_name(raw: str) -> str:
    return checked_name(raw, forbidden="\\")


def _fold(name: str) -> str:
    """Names that some file system takes for the same have the same fold (Unicode NFC and case)."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def _place(archive: Archive, member: tarfile.TarInfo, folded: str) -> None:
    """Remember the entry; refuse a second of the same name, and one below a link or file."""
    entry = shown(member.name)
    kind = "dir" if member.isdir() else ("link" if member.issym() else "file")
    if folded == "":
        if kind != "dir":
            raise Finding(Rule.ENTRY_NAME_INVALID, entry=entry)
        return
    known = archive.kinds.get(folded)
    if known is not None and known != "implied":
        raise Finding(Rule.ENTRY_DUPLICATE, entry=entry)
    if known == "implied" and kind != "dir":
        raise Finding(Rule.ENTRY_UNDER_LINK, entry=entry)
    parent = posixpath.dirname(folded)
    while parent:  # parents are marked, so that one of them cannot turn into a link or file later
        if archive.kinds.setdefault(parent, "implied") in ("file", "link"):
            raise Finding(Rule.ENTRY_UNDER_LINK, entry=entry)
        parent = posixpath.dirname(parent)
    archive.kinds[folded] = kind
    archive.roots.add(folded.split("/", 1)[0])


def _check_symlink(archive: Archive, member: tarfile.TarInfo, folded: str) -> None:
    """Refuse at once what cannot be a target inside, as far as it can be told by the links so far."""
    target = member.linkname
    broken = target.startswith("/") or "\\" in target or not target or len(target) > NAME_BYTES
    if broken or has_controls(target):
        raise Finding(Rule.ENTRY_LINK_LEAVES_TREE, entry=shown(member.name))
    archive.links[folded] = (_fold(target), member.name)
    if not _stays(archive.links, posixpath.dirname(folded), _fold(target)):
        raise Finding(Rule.ENTRY_LINK_LEAVES_TREE, entry=shown(member.name))


def _check_links(archive: Archive) -> None:
    """Follow every link once more, now through all others, as a file system would: none leaves the tree."""
    for folded, (target, written) in archive.links.items():
        if not _stays(archive.links, posixpath.dirname(folded), target):
            raise Finding(Rule.ENTRY_LINK_LEAVES_TREE, entry=shown(written))


def _stays(links: dict[str, tuple[str, str]], folder: str, target: str) -> bool:
    here = [part for part in folder.split("/") if part]
    ahead = target.split("/")[::-1]
    hops = 0
    while ahead:
        part = ahead.pop()
        if part in ("", "."):
            continue
        if part == "..":
            if not here:
                return False
            here.pop()
            continue
        here.append(part)
        if link := links.get("/".join(here)):
            hops += 1
            if hops > LINK_HOPS:
                return False
            here.pop()
            ahead.extend(link[0].split("/")[::-1])
    return True


def _check_hard_link(archive: Archive, member: tarfile.TarInfo) -> None:
    """A hard link names an earlier regular file of the same archive, from its root."""
    try:
        target = _fold(_checked_name(member.linkname))
    except Finding:
        target = ""
    if archive.kinds.get(target) != "file" or target == _fold(_checked_name(member.name)):
        raise Finding(Rule.ENTRY_HARD_LINK_LEAVES_TREE, entry=shown(member.name))


def _read_file(
    archive: Archive, tar: tarfile.TarFile, member: tarfile.TarInfo, name: str, limits: Limits
) -> None:
    archive.unpacked += member.size
    if archive.unpacked > limits.unpacked or member.size < 0:
        raise Finding(Rule.PACKAGE_UNPACKED_TOO_LARGE, limit=limits.unpacked, entry=shown(member.name))
    if name == MANIFEST:
        if member.size > MANIFEST_BYTES:
            raise Finding(Rule.MANIFEST_NOT_TOML, detail=f"it is larger than {MANIFEST_BYTES} bytes")
        content = tar.extractfile(member)
        archive.manifest = content.read() if content else b""
