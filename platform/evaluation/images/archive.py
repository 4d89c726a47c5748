"""The outer archive: which image it holds, and its blobs, each compared with its digest before it is used.

Two layouts: the OCI image layout (`podman save --format oci-archive`, newer Docker; OCI Image Format Specification 1.1,
image-layout.md) and the older one of `docker save` (manifest.json, layers named by their folders).
"""

from __future__ import annotations

import hashlib
import io
import json
import posixpath
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from evaluation.images.findings import ArchiveRule, Finding, shown
from evaluation.images.strict import BLOCK, CHUNK, Damaged, Entry, Meter, checked_name, damage

PACKED = 4 * 1024**3
"""Bytes of an image archive."""
DOCUMENT_BYTES = 4 * 1024**2
LAYERS = 127
BLOBS = 10_000
"""Members of the outer archive."""
NESTED = 2
"""Indexes that may stand in an index."""
_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_LAYER_TYPES = {
    "application/vnd.oci.image.layer.v1.tar",
    "application/vnd.oci.image.layer.v1.tar+gzip",
    "application/vnd.docker.image.rootfs.diff.tar",
    "application/vnd.docker.image.rootfs.diff.tar.gzip",
}
_INDEX_TYPES = {
    "application/vnd.oci.image.index.v1+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
}
_CONFIG_TYPES = {
    "application/vnd.oci.image.config.v1+json",
    "application/vnd.docker.container.image.v1+json",
}


@dataclass(frozen=True)
class Layer:
    """One layer: where it lies in the archive, and the SHA-256 of its tar, uncompressed."""

    name: str
    offset: int
    size: int
    diff_id: str
    compressed: bool


@dataclass(frozen=True)
class Contents:
    """What the archive says it holds. `digest` is the SHA-256 of the configuration, which names all else."""

    digest: str
    config: dict[str, Any]
    layers: tuple[Layer, ...]


class Slice(io.RawIOBase):
    """Bytes `offset` to `offset + size` of a file, as a file."""

    def __init__(self, file: BinaryIO, offset: int, size: int) -> None:
        self._file, self._at, self._end = file, offset, offset + size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self._file.seek(self._at)
        data = self._file.read(min(len(buffer), self._end - self._at))
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)


@dataclass
class _Archive:
    file: BinaryIO
    members: dict[str, tarfile.TarInfo] = field(default_factory=dict)
    digests: dict[int, str] = field(default_factory=dict)
    """By place: a blob may be listed any number of times, and is read once."""

    def find(self, name: str) -> tarfile.TarInfo | None:
        """A regular member; older Docker stores a layer once and links to it from its other places."""
        found = self.members.get(name)
        if found is not None and found.issym():
            found = self.members.get(
                posixpath.normpath(posixpath.join(posixpath.dirname(name), found.linkname))
            )
        return found if found is not None and found.isreg() else None

    def get(self, name: str) -> tarfile.TarInfo:
        found = self.find(name)
        if found is None:
            raise _invalid(name, "it is not in the archive")
        return found

    def chunks(self, member: tarfile.TarInfo) -> Iterator[bytes]:
        source = Slice(self.file, member.offset_data, member.size)
        while chunk := source.read(CHUNK):
            yield chunk

    def digest(self, member: tarfile.TarInfo) -> str:
        if member.offset_data not in self.digests:
            found = hashlib.sha256()
            for chunk in self.chunks(member):
                found.update(chunk)
            self.digests[member.offset_data] = found.hexdigest()
        return self.digests[member.offset_data]

    def document(self, name: str, kind: type) -> Any:
        """A JSON document of a sensible size. Raises Finding."""
        member = self.get(name)
        if member.size > DOCUMENT_BYTES:
            raise _invalid(name, f"it is larger than {DOCUMENT_BYTES} bytes")
        try:
            found = json.loads(b"".join(self.chunks(member)).decode("utf-8"), object_pairs_hook=_once)
        except (ValueError, RecursionError):
            raise _invalid(name, "it is no JSON, or names a key twice") from None
        if not isinstance(found, kind):
            raise _invalid(name, "it has another form")
        return found

    def blob(self, descriptor: Any, where: str) -> tuple[str, tarfile.TarInfo]:
        """The blob of a descriptor, compared with its digest and size: (name, member)."""
        name = blob_name(descriptor, where)
        member = self.get(name)
        if member.size != descriptor.get("size") or self.digest(member) != posixpath.basename(name):
            raise Finding(ArchiveRule.IMAGE_DIGEST_MISMATCH, entry=shown(name))
        return name, member

    def layer(self, name: str, diff_id: str) -> Layer:
        member = self.get(name)
        start = next(self.chunks(member), b"")[:4]
        if start == _ZSTD:
            raise Finding(ArchiveRule.IMAGE_LAYER_UNSUPPORTED, entry=shown(name), what="zstd")
        compressed = start[:2] == _GZIP
        return Layer(name, member.offset_data, member.size, diff_id, compressed)


def read(file: BinaryIO) -> Contents:
    """The one image in `file`, a seekable file at its start; every digest but those inside layers is compared.

    Raises Finding at the first offence.
    """
    archive = _opened(file)
    if archive.find("oci-layout") and archive.find("index.json"):
        found = _oci(archive)
        if archive.find(
            "manifest.json"
        ):  # both are there where Docker wrote it: they must mean the same image
            _require_same(archive, found)
        return found
    if archive.find("manifest.json"):
        return _docker(archive)
    raise Finding(ArchiveRule.IMAGE_NOT_ARCHIVE)


def _opened(file: BinaryIO) -> _Archive:
    start = file.read(BLOCK)
    file.seek(0)
    if start[:2] == _GZIP or start[:4] == _ZSTD or start[:3] == b"BZh" or start[:6] == b"\xfd7zXZ\x00":
        raise Finding(ArchiveRule.IMAGE_COMPRESSED)
    archive, not_archive = _Archive(file), Finding(ArchiveRule.IMAGE_NOT_ARCHIVE)
    try:
        with tarfile.open(fileobj=file, mode="r:", tarinfo=Entry, encoding="utf-8") as tar:
            for member in tar:
                _remember(archive, member)
            end = tar.offset
    except tarfile.ReadError as error:
        found = damage(error, Meter(io.BytesIO(), 0))
        raise found if found.code is ArchiveRule.PACKAGE_TRUNCATED else not_archive from None
    except (Damaged, tarfile.TarError, EOFError, ValueError, OverflowError, RecursionError):
        raise not_archive from None
    size = file.seek(0, io.SEEK_END)
    cut = any(member.offset_data + member.size > size for member in archive.members.values())
    if cut or end > size:
        raise Finding(ArchiveRule.PACKAGE_TRUNCATED)
    return archive


def _remember(archive: _Archive, member: tarfile.TarInfo) -> None:
    name = checked_name(member.name)
    entry = shown(member.name)
    if not (member.isreg() or member.isdir() or member.issym()) or member.issparse() or member.size < 0:
        raise Finding(ArchiveRule.ENTRY_DEVICE, entry=entry)
    if member.isdir():
        return
    if name in archive.members:
        raise Finding(ArchiveRule.ENTRY_DUPLICATE, entry=entry)
    if len(archive.members) >= BLOBS:
        raise Finding(ArchiveRule.PACKAGE_TOO_MANY_ENTRIES, limit=BLOBS, entry=entry)
    archive.members[name] = member


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice")
    return found


def _invalid(name: str, detail: str) -> Finding:
    return Finding(ArchiveRule.IMAGE_DOCUMENT_INVALID, entry=shown(name), detail=detail)


def blob_name(descriptor: Any, where: str) -> str:
    """blobs/sha256/HEX of a descriptor. Raises Finding for one that names no SHA-256."""
    digest = descriptor.get("digest") if isinstance(descriptor, dict) else None
    algorithm, _, value = str(digest).partition(":")
    if algorithm != "sha256" or len(value) != 64 or value.strip("0123456789abcdef"):
        raise _invalid(where, "a descriptor without a SHA-256")
    return f"blobs/sha256/{value}"


def _listed(table: dict[str, Any], key: str, where: str) -> list[Any]:
    found = table.get(key)
    if not isinstance(found, list):
        raise _invalid(where, f"`{key}` is no list")
    return found


def _oci(archive: _Archive) -> Contents:
    index = archive.document("index.json", dict)
    seen: set[str] = set()
    rows = _manifests(archive, index, "index.json", NESTED, seen)
    found = {blob_name(item, "index.json"): item for item in rows}
    if len(found) != 1:
        raise Finding(ArchiveRule.IMAGE_NOT_SINGLE, count=len(found))
    (descriptor,) = found.values()
    name, _ = archive.blob(descriptor, "index.json")
    manifest = archive.document(name, dict)
    config = manifest.get("config")
    if not isinstance(config, dict) or config.get("mediaType") not in _CONFIG_TYPES:
        raise _invalid(name, "it is not the manifest of an image")
    config_name, _ = archive.blob(config, name)
    settings = archive.document(config_name, dict)
    layers = _listed(manifest, "layers", name)
    diff_ids = _diff_ids(settings, config_name, len(layers))
    found_layers = tuple(
        _oci_layer(archive, layer, name, diff_id) for layer, diff_id in zip(layers, diff_ids, strict=True)
    )
    return Contents(posixpath.basename(config_name), settings, found_layers)


def _manifests(
    archive: _Archive, index: dict[str, Any], where: str, depth: int, seen: set[str]
) -> Iterator[Any]:
    """Descriptors of the images that are there; attestations, and platforms that were not saved, do not count.

    `seen` holds the indexes that were read: one that is listed again is not read again.
    """
    for item in _listed(index, "manifests", where):
        name = blob_name(item, where)
        if item.get("mediaType") in _INDEX_TYPES:
            if depth == 0:
                raise _invalid(where, "indexes in indexes")
            if name not in seen:
                seen.add(name)
                archive.blob(item, where)
                yield from _manifests(archive, archive.document(name, dict), name, depth - 1, seen)
            continue
        notes = item.get("annotations")
        attests = isinstance(notes, dict) and notes.get("vnd.docker.reference.type") == "attestation-manifest"
        if archive.find(name) and not attests:
            yield item


def _oci_layer(archive: _Archive, descriptor: Any, where: str, diff_id: str) -> Layer:
    name = blob_name(descriptor, where)
    kind = str(descriptor.get("mediaType"))
    if descriptor.get("urls") or kind not in _LAYER_TYPES:
        what = "foreign layer" if descriptor.get("urls") else kind
        raise Finding(ArchiveRule.IMAGE_LAYER_UNSUPPORTED, entry=shown(name), what=shown(what))
    archive.blob(descriptor, where)
    return archive.layer(name, diff_id)


def _diff_ids(config: dict[str, Any], where: str, count: int) -> list[str]:
    rootfs = config.get("rootfs")
    if not isinstance(rootfs, dict) or rootfs.get("type") != "layers":
        raise _invalid(where, "`rootfs` lists no layers")
    found = [blob_name({"digest": item}, where) for item in _listed(rootfs, "diff_ids", where)]
    if len(found) != count:
        raise _invalid(where, f"{count} layers and {len(found)} digests of layers")
    if count > LAYERS:
        raise Finding(ArchiveRule.IMAGE_TOO_MANY_LAYERS, limit=LAYERS, found=count)
    return [posixpath.basename(name) for name in found]


def _only_row(archive: _Archive) -> dict[str, Any]:
    rows = archive.document("manifest.json", list)
    if len(rows) != 1:
        raise Finding(ArchiveRule.IMAGE_NOT_SINGLE, count=len(rows))
    row = rows[0]
    if not isinstance(row, dict) or not isinstance(row.get("Config"), str):
        raise _invalid("manifest.json", "it names no configuration")
    return row


def _docker(archive: _Archive) -> Contents:
    row = _only_row(archive)
    name = posixpath.normpath(row["Config"])
    digest = archive.digest(archive.get(name))
    if posixpath.basename(name).removesuffix(".json") != digest:
        raise Finding(ArchiveRule.IMAGE_DIGEST_MISMATCH, entry=shown(name))
    settings = archive.document(name, dict)
    names = [posixpath.normpath(str(layer)) for layer in _listed(row, "Layers", "manifest.json")]
    diff_ids = _diff_ids(settings, name, len(names))
    layers = tuple(archive.layer(layer, diff_id) for layer, diff_id in zip(names, diff_ids, strict=True))
    return Contents(digest, settings, layers)


def _require_same(archive: _Archive, found: Contents) -> None:
    name = posixpath.normpath(_only_row(archive)["Config"])
    if archive.digest(archive.get(name)) != found.digest:
        raise _invalid("manifest.json", "it names another image than index.json")
