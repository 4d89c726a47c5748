"""Where an export's files are read from: a directory, or an uncompressed tar of it, without unpacking."""

from __future__ import annotations

import io
import os
import tarfile
from pathlib import Path
from typing import BinaryIO, Protocol

from audit.merkle.export import MANIFEST
from client.audit.report import WrongQuestion


class Missing(LookupError):
    """The export has no such file."""


class Source(Protocol):
    """Files by their names in the export."""

    def read(self, name: str) -> bytes:
        """All bytes. Raises Missing."""
        ...

    def stream(self, name: str) -> BinaryIO:
        """The file, open for reading. Raises Missing."""
        ...


class Folder:
    """An export as a directory. Links are not followed."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def read(self, name: str) -> bytes:
        with os.fdopen(self._open(name), "rb", buffering=0) as file:
            return file.read()

    def stream(self, name: str) -> BinaryIO:
        return os.fdopen(self._open(name), "rb")

    def _open(self, name: str) -> int:
        try:
            return os.open(f"{self._root}/{name}", os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
        except OSError as error:
            raise Missing(name) from error


class Tar:
    """An export as a tar. The folder that holds manifest.json is its root."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: BinaryIO | None = None
        places: dict[str, tuple[int, int]] = {}
        with tarfile.open(path, "r:") as archive:
            for member in archive:
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
    try:
        return Tar(path)
    except (tarfile.TarError, OSError) as error:
        raise WrongQuestion(f"{path} is neither a directory, an uncompressed tar nor a receipt") from error
