"""What a run left behind, read as if it were hostile: regular files only, no links, hard size caps.

Everything that can be wrong with an artefact is an ArtefactError with a reason; nothing else comes out.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

MAX_REPLY_CHARS = 1_000_000
MAX_TEXT_BYTES = 2 * 1024 * 1024


class Reason(StrEnum):
    """Why an item has the score it has; stable codes."""

    MET = "met"
    PARTLY_MET = "partly_met"
    WRONG = "wrong"
    MISSING = "missing"
    NOT_REGULAR = "not_regular"
    TOO_LARGE = "too_large"
    MALFORMED = "malformed"
    COLUMN_MISSING = "column_missing"
    CONTRACT_BROKEN = "contract_broken"
    NO_SUCH_ROW = "no_such_row"


class ArtefactError(Exception):
    """An artefact cannot be read as its contract wants; `reason` says why."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason.value)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Artefacts:
    """The workspace below `root` at the end of the run, and the reply.

    `beneath` holds files (path to content) that count as present where `root` has nothing of that name: a
    sample answer lies over the task's own workspace this way without being copied.
    """

    root: Path
    reply: str | None
    beneath: Mapping[str, bytes] = field(default_factory=dict)

    def read(self, path: str, most: int) -> bytes:
        """The content of a regular file of at most `most` bytes; raises ArtefactError."""
        try:
            descriptor = self._open(path)
        except ArtefactError as error:
            if error.reason is not Reason.MISSING or path not in self.beneath:
                raise
            if len(self.beneath[path]) > most:
                raise ArtefactError(Reason.TOO_LARGE) from None
            return self.beneath[path]
        try:
            return _read_regular(descriptor, most)
        except OSError as error:
            raise ArtefactError(Reason.MALFORMED) from error
        finally:
            os.close(descriptor)

    def read_text(self, path: str, most: int = MAX_TEXT_BYTES) -> str:
        """A text file, decoded as `decode` does."""
        return decode(self.read(path, most))

    def is_file(self, path: str) -> bool:
        """Whether a regular file stands at the path, reached through real folders only."""
        try:
            self.read(path, 0)
        except ArtefactError as error:
            return error.reason is Reason.TOO_LARGE
        return True

    def exists(self, path: str) -> bool:
        """Whether anything at all stands at the path: file, folder, link or device."""
        return os.path.lexists(os.fsencode(self.root) + b"/" + path.encode()) or any(
            known == path or known.startswith(path + "/") for known in self.beneath
        )

    def _open(self, path: str) -> int:
        """A descriptor of the last part, each folder on the way opened without following links."""
        *folders, name = [part.encode() for part in path.split("/")]
        try:
            held = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            for folder in folders:
                held = _step(held, folder, os.O_DIRECTORY)
            # Without O_NONBLOCK a FIFO would hold the grader for ever.
            return _step(held, name, os.O_NONBLOCK)
        except (FileNotFoundError, NotADirectoryError):
            raise ArtefactError(Reason.MISSING) from None
        except (OSError, ValueError):
            raise ArtefactError(Reason.NOT_REGULAR) from None


def _read_regular(descriptor: int, most: int) -> bytes:
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode):
        raise ArtefactError(Reason.NOT_REGULAR)
    # Asked before reading: a sparse file of 5 GB costs nothing to make.
    if found.st_size > most:
        raise ArtefactError(Reason.TOO_LARGE)
    parts = []
    while part := os.read(descriptor, most + 1):
        parts.append(part)
        if sum(map(len, parts)) > most:
            raise ArtefactError(Reason.TOO_LARGE)
    return b"".join(parts)


def _step(folder: int, name: bytes, flags: int) -> int:
    try:
        return os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | flags, dir_fd=folder)
    finally:
        os.close(folder)


def decode(content: bytes) -> str:
    """UTF-8 with or without mark, else GBK (as its superset GB18030); raises ArtefactError otherwise."""
    for encoding in ("utf-8-sig", "gb18030"):
        try:
            return content.decode(encoding)
        except UnicodeDecodeError:
            continue
    raise ArtefactError(Reason.MALFORMED)
