"""Content digests of a task directory: one per part that is numbered apart, and one over everything."""

from __future__ import annotations

import hashlib
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from benchmark.taskdir.errors import TaskDirError

_HEADER = b"lingee-files/1\n"
_PARTS = {
    "instruction": ("instruction.md", "turns/"),
    "environment": ("environment/",),
    "grading": ("tests/verifier.toml", "tests/grading/"),
    "gold": ("tests/gold/",),
}


@dataclass(frozen=True, slots=True)
class Digests:
    """SHA-256, lower-case hex. `task` covers every file of the directory, the others their part."""

    instruction: str
    environment: str
    grading: str
    gold: str
    task: str


def digest(task_dir: Path) -> Digests:
    """The digests of one task directory; raises TaskDirError where it holds anything but regular files.

    Canonical form: the header line, then for each file, in order of its path's UTF-8 bytes, one line of the
    content's SHA-256, its size and its path. Modes and times do not count.
    """
    lines = [(path, _line(task_dir / path, path)) for path in files_below(task_dir)]
    parts = {
        part: _digest(line for path, line in lines if path.startswith(prefixes))
        for part, prefixes in _PARTS.items()
    }
    return Digests(task=_digest(line for _, line in lines), **parts)


def files_below(root: Path) -> list[str]:
    """All files below `root` as POSIX paths, sorted; raises TaskDirError for links and special files."""
    found: list[str] = []
    pending = [root]
    while pending:
        for entry in pending.pop().iterdir():
            mode = entry.lstat().st_mode
            if stat.S_ISDIR(mode):
                pending.append(entry)
            elif stat.S_ISREG(mode):
                found.append(entry.relative_to(root).as_posix())
            else:
                raise TaskDirError(f"{entry.relative_to(root).as_posix()}: is not a regular file")
    return sorted(found, key=lambda path: path.encode())


def _line(file: Path, path: str) -> bytes:
    content = file.read_bytes()
    return f"{hashlib.sha256(content).hexdigest()} {len(content)} {path}\n".encode()


def _digest(lines: Iterable[bytes]) -> str:
    running = hashlib.sha256(_HEADER)
    for line in lines:
        running.update(line)
    return running.hexdigest()
