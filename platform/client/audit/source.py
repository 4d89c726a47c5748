"""Where an export's files are read from: a directory, or an uncompressed tar of it, without unpacking."""

from __future__ import annotations

import io
import os
import stat
import tarfile
from pathlib import Path
from typing import BinaryIO, Protocol, cast

from audit.merkle.export import MANIFEST
from client.audit.report import WrongQuestion

LARGEST = 64 << 20
"""Bytes of a file that is read as a whole: the manifest of half a billion entries, and more than any tile."""
LARGEST_HEADER = 1 << 20
"""Bytes that the headers of a tar may be read in at once."""


_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
"""Not blocking: to open a pipe would wait for somebody who writes into it."""


class Missing(LookupError):
    """The export has no such file, or what stands there is no regular file or too large to be it."""


class Source(Protocol):
    """Files by their names in the export."""

    def read(self, name: str) -> bytes:
        """All bytes. Raises Missing."""
        ...

    def stream(self, name: str) -> BinaryIO:
        """The file, open for reading. Raises Missing."""
        ...


class Folder:
    """An export as a directory. Links below it are not followed, and only regular files are read."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._plain = {""}
        """Folders below the root that are no links."""

    def read(self, name: str) -> bytes:
        with os.fdopen(self._open(name, LARGEST), "rb", buffering=0) as file:
            return file.read()

    def stream(self, name: str) -> BinaryIO:
        return os.fdopen(self._open(name), "rb")

    def _open(self, name: str, largest: int | None = None) -> int:
        try:
            self._require_plain(name.rpartition("/")[0])
            handle = os.open(f"{self._root}/{name}", _FLAGS)
        except OSError as error:
            raise Missing(name) from error
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode) or (largest is not None and found.st_size > largest):
            os.close(handle)
            raise Missing(f"{name}, which is no file or too large")
        return handle

    def _require_plain(self, folder: str) -> None:
        """Raises OSError where the folder, or one above it within the export, is a link or no folder."""
        if folder in self._plain:
            return
        self._require_plain(folder.rpartition("/")[0])
        if not stat.S_ISDIR(os.lstat(f"{self._root}/{folder}").st_mode):
            raise NotADirectoryError(folder)
        self._plain.add(folder)


class Tar:
    """An export as a tar. The folder that holds manifest.json is its root."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: BinaryIO | None = None
        places: dict[str, tuple[int, int]] = {}
        whole = path.stat().st_size
        with (
            path.open("rb") as file,
            tarfile.open(fileobj=cast(BinaryIO, _Headers(file)), mode="r:") as archive,
        ):
            for member in archive:
                if not 0 <= member.size <= whole - member.offset_data:
                    raise WrongQuestion(f"the tar is cut off, or {member.name} has no such size")
                if member.type in (tarfile.REGTYPE, tarfile.AREGTYPE):
                    name = member.name.removeprefix("./")
                    if name in places:
                        raise WrongQuestion(f"the tar holds {name} twice")
                    places[name] = (member.offset_data, member.size)
                archive.members = []  # type: ignore[attr-defined]
        roots = [name for name in places if name == MANIFEST or name.endswith(f"/{MANIFEST}")]
        if not roots:
            raise WrongQuestion(f"the tar holds no {MANIFEST}")
        root = min(roots, key=len).removesuffix(MANIFEST)
        self._places = {
            name.removeprefix(root): place for name, place in places.items() if name.startswith(root)
        }

    def read(self, name: str) -> bytes:
        if name not in self._places:
            raise Missing(name)
        offset, size = self._places[name]
        if size > LARGEST:
            raise Missing(f"{name}, which is too large")
        if self._file is None:
            self._file = self._path.open("rb", buffering=0)
        return os.pread(self._file.fileno(), size, offset)

    def stream(self, name: str) -> BinaryIO:
        if name not in self._places:
            raise Missing(name)
        return io.BufferedReader(_Part(self._path, *self._places[name]))

    def __getstate__(self) -> dict[str, object]:
        """Another process opens the file for itself."""
        return {**self.__dict__, "_file": None}


class _Headers:
    """A tar as its headers are read from it: never much at once, whatever size they claim to have."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.seek, self.tell = file.seek, file.tell

    def read(self, count: int = -1) -> bytes:
        """Raises WrongQuestion."""
        if not 0 <= count <= LARGEST_HEADER:
            raise WrongQuestion("the tar has a header that is too large")
        return self._file.read(count)


class _Part(io.RawIOBase):
    """A stretch of a file."""

    def __init__(self, path: Path, offset: int, size: int) -> None:
        self._whole = path.open("rb", buffering=0)
        self._whole.seek(offset)
        self._left = size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        data = self._whole.read(min(len(buffer), self._left))
        buffer[: len(data)] = data
        self._left -= len(data)
        return len(data)

    def close(self) -> None:
        self._whole.close()
        super().close()


def open_source(path: Path) -> Source:
    """Raises WrongQuestion where `path` is neither a directory nor an uncompressed tar."""
    if path.is_dir():
        return Folder(path)
    if not path.is_file():
        raise WrongQuestion(f"{path} is neither a file nor a directory")
    try:
        return Tar(path)
    except (tarfile.TarError, OSError, ValueError, OverflowError) as error:
        raise WrongQuestion(f"{path} is neither a directory, an uncompressed tar nor a receipt") from error
