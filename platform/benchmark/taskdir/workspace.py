"""The workspace archive of a task: written to the byte, read with nothing taken on trust."""

from __future__ import annotations

import gzip
import io
import tarfile
import zlib
from collections.abc import Mapping
from pathlib import Path

from benchmark.taskdir.errors import TaskDirError
from scoring.fields import is_safe_path

MAX_FILES = 2_000
MAX_BYTES = 64 * 1024 * 1024
MAX_NAME_BYTES = 400
_CHUNK = 1024 * 1024


def pack(files: Mapping[str, bytes]) -> bytes:
    """The files as a tar.gz whose bytes depend on names and contents only."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name in sorted(files, key=lambda name: name.encode()):
            if not is_safe_path(name):
                raise TaskDirError(f"workspace: unsafe name {name!r}")
            member = tarfile.TarInfo(name)
            member.size, member.mode = len(files[name]), 0o644
            archive.addfile(member, io.BytesIO(files[name]))
    packed = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=packed, mtime=0) as stream:
        stream.write(raw.getvalue())
    return packed.getvalue()


def unpack(archive: bytes, *, name: str = "environment/workspace.tar.gz") -> dict[str, bytes]:
    """The regular files of the archive by path.

    Raises TaskDirError, naming the entry, for links, devices, unsafe or repeated names, names that are a
    folder elsewhere, and past the caps on count and unpacked size.
    """
    try:
        with tarfile.open(fileobj=io.BytesIO(_gunzip(archive, name)), mode="r:") as opened:
            files = _members(opened, name)
    except (tarfile.TarError, UnicodeError, ValueError, OverflowError) as error:
        if isinstance(error, TaskDirError):
            raise
        raise TaskDirError(f"{name}: cannot be read: {error}") from error
    for path in files:
        if any(parent.as_posix() in files for parent in Path(path).parents):
            raise TaskDirError(f"{name}: {path!r} lies below a file")
    return files


def _gunzip(archive: bytes, name: str) -> bytes:
    """Unpack in steps, so that a bomb is met at the cap and not after it."""
    parts, total = [], 0
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(archive)) as stream:
            while chunk := stream.read(_CHUNK):
                total += len(chunk)
                if total > MAX_BYTES + MAX_FILES * 4 * tarfile.BLOCKSIZE:
                    raise TaskDirError(f"{name}: unpacks to more than {MAX_BYTES} bytes")
                parts.append(chunk)
    except (OSError, EOFError, zlib.error) as error:
        raise TaskDirError(f"{name}: is not a gzip file: {error}") from error
    return b"".join(parts)


def _members(opened: tarfile.TarFile, name: str) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    for count, member in enumerate(opened):
        path = member.name.rstrip("/") if member.isdir() else member.name
        if count >= MAX_FILES:
            raise TaskDirError(f"{name}: more than {MAX_FILES} entries")
        if not is_safe_path(path) or len(path.encode()) > MAX_NAME_BYTES:
            raise TaskDirError(f"{name}: unsafe name {member.name!r}")
        if member.isdir():
            continue
        if member.type not in (tarfile.REGTYPE, tarfile.AREGTYPE) or member.mode & 0o7000:
            raise TaskDirError(f"{name}: {path!r} is not a regular file")
        if path in files:
            raise TaskDirError(f"{name}: {path!r} stands twice")
        extracted = opened.extractfile(member)
        files[path] = extracted.read() if extracted is not None else b""
    return files
