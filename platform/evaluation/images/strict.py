"""Reading a tar as a stream: what is damaged, cut off or endless is a Finding, never an early end."""

from __future__ import annotations

import gzip
import tarfile
import unicodedata
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from evaluation.images.findings import ArchiveRule, Finding, shown

CHUNK = 256 * 1024
BLOCK = 512
EXTENSION_BYTES = 64 * 1024
"""Longest header that carries a long name or attributes of the next entry."""
NAME_BYTES = 1024
COMPONENT_BYTES = 255
DEPTH = 64


class Source(Protocol):
    """What can be read from."""

    def read(self, size: int = -1, /) -> bytes: ...


class Meter:
    """A stream that stops once more than `limit` bytes came out of it, whatever the archive's own headers say."""

    def __init__(self, stream: Source, limit: int) -> None:
        self._stream = stream
        self._limit = limit
        self.count = 0
        self.tail = b""
        self.entry = "–"

    def read(self, size: int = -1) -> bytes:
        data = self._stream.read(CHUNK if size < 0 else min(size, CHUNK))
        self.count += len(data)
        self.tail = (self.tail + data)[-BLOCK:]
        if self.count > self._limit:
            rule = ArchiveRule.PACKAGE_UNPACKED_TOO_LARGE
            raise Finding(rule, limit=self._limit, entry=shown(self.entry))
        return data


class Damaged(Exception):
    """A header that is none; the meter knows after which entry."""


class Entry(tarfile.TarInfo):
    """A header, read only if the headers that extend it are of a sensible size."""

    EXTENSIONS = frozenset(
        {
            tarfile.GNUTYPE_LONGNAME,
            tarfile.GNUTYPE_LONGLINK,
            tarfile.XHDTYPE,
            tarfile.XGLTYPE,
            tarfile.SOLARIS_XHDTYPE,
        }
    )

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Entry:
        """Where the base class lets an archive end, because a header is damaged or missing, say so."""
        try:
            return super().frombuf(buf, encoding, errors)  # type: ignore[return-value]
        except (tarfile.EmptyHeaderError, tarfile.TruncatedHeaderError):  # type: ignore[attr-defined]
            raise Finding(ArchiveRule.PACKAGE_TRUNCATED) from None
        except tarfile.InvalidHeaderError:  # type: ignore[attr-defined]
            raise Damaged from None

    def _proc_member(self, tarfile_: tarfile.TarFile) -> tarfile.TarInfo:
        if self.type in self.EXTENSIONS and not 0 <= self.size <= EXTENSION_BYTES:
            raise Finding(ArchiveRule.ENTRY_NAME_INVALID, entry=shown(self.name))
        found: tarfile.TarInfo = super()._proc_member(tarfile_)  # type: ignore[misc]
        return found


@contextmanager
def reading(meter: Meter) -> Iterator[tarfile.TarFile]:
    """The tar in `meter`, to be iterated over once; raises Finding for whatever is wrong up to its last byte."""
    try:
        with tarfile.open(fileobj=meter, mode="r|", bufsize=CHUNK, tarinfo=Entry) as tar:  # type: ignore[call-overload]
            yield tar
            _drain(tar.fileobj, meter)
    except EOFError:
        raise Finding(ArchiveRule.PACKAGE_TRUNCATED) from None
    except tarfile.ReadError as error:
        raise damage(error, meter) from None
    except (
        Damaged,
        tarfile.TarError,
        zlib.error,
        gzip.BadGzipFile,
        ValueError,
        OverflowError,
        RecursionError,
    ):
        raise Finding(ArchiveRule.PACKAGE_DAMAGED, entry=shown(meter.entry)) from None


def damage(error: tarfile.ReadError, meter: Meter) -> Finding:
    """What a ReadError of the standard reader means."""
    if any(word in str(error) for word in ("unexpected end of data", "truncated", "empty file")):
        return Finding(ArchiveRule.PACKAGE_TRUNCATED)
    return Finding(ArchiveRule.PACKAGE_DAMAGED, entry=shown(meter.entry))


def _drain(rest: Source, meter: Meter) -> None:
    """Read to the end, so that a cut-off or endless tail is noticed; after the end only zero bytes may follow."""
    while data := rest.read(CHUNK):
        if data.strip(b"\x00"):
            raise Finding(ArchiveRule.PACKAGE_DAMAGED, entry=shown(meter.entry))
    if meter.tail != bytes(BLOCK):
        raise Finding(ArchiveRule.PACKAGE_TRUNCATED)


def checked_name(raw: str, forbidden: str = "") -> str:
    """The name without `./` and trailing slash; raises Finding for one that leads elsewhere or cannot be used."""
    entry = shown(raw)
    if raw.startswith("/"):
        raise Finding(ArchiveRule.ENTRY_ABSOLUTE, entry=entry)
    parts = [part for part in raw.split("/") if part not in ("", ".")]
    if ".." in parts:
        raise Finding(ArchiveRule.ENTRY_TRAVERSAL, entry=entry)
    try:
        encoded = [part.encode("utf-8") for part in parts]
    except UnicodeEncodeError:
        raise Finding(ArchiveRule.ENTRY_NAME_INVALID, entry=entry) from None
    too_long = sum(map(len, encoded)) + len(parts) > NAME_BYTES or any(
        len(p) > COMPONENT_BYTES for p in encoded
    )
    if has_controls(raw) or too_long or len(parts) > DEPTH or any(sign in raw for sign in forbidden):
        raise Finding(ArchiveRule.ENTRY_NAME_INVALID, entry=entry)
    return "/".join(parts)


def has_controls(text: str) -> bool:
    """Whether a name holds control characters or bytes that are not UTF-8."""
    return any(unicodedata.category(character) in ("Cc", "Cs") for character in text)
