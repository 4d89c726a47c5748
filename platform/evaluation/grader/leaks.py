"""Whether anything mounted for the agent names the task, its answers, its rules or its history."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

from benchmark.taskdir import Task

# Parts of a path that belong to the hidden side of a task, or to version control.
_FORBIDDEN_PARTS = frozenset(
    {
        ".git",
        ".gitignore",
        ".gitattributes",
        ".hg",
        ".svn",
        "adversarial",
        "baseline",
        "gold",
        "grading",
        "rules.json",
        "rules.yaml",
        "samples.toml",
        "task.toml",
        "taskset.toml",
        "tests",
        "verifier.toml",
    }
)
# Words of the hidden side in any text. "gold" and "tests" alone are ordinary words of business data.
_FORBIDDEN_TEXT = re.compile(
    rb"lingee|held[_-]out|tests/(?:gold|grading)|rules\.yaml|verifier\.toml|samples\.toml|task\.toml|rules/1\b"
    rb"|canary[ _-]?(?:guid|string)|should never appear in training|ref: refs/heads/",
    re.IGNORECASE,
)
_MAX_PARTS = 500
_MAX_PART_BYTES = 16 * 1024 * 1024
# Shorter answer files (a single number) may stand in a workspace by chance.
_MIN_ANSWER_BYTES = 24


def find_leaks(task: Task, workspace: Mapping[str, bytes]) -> Iterator[str]:
    """One sentence for each thing the agent must not find."""
    names = _names_of(task)
    for place, text in _statements(task):
        yield from _in_text(place, text, names)
    for path, content in workspace.items():
        for part in PurePosixPath(path).parts:
            if part.lower() in _FORBIDDEN_PARTS:
                yield f"workspace: {path!r} has a name of the hidden side: {part!r}"
        yield from _in_text(f"workspace: name of {path!r}", path.encode(), names)
        for place, text in _texts(path, content):
            yield from _in_text(f"workspace: {place}", text, names)
    yield from _answers(task, workspace)


def _names_of(task: Task) -> tuple[bytes, ...]:
    return tuple({task.meta.id.encode(), task.meta.family.encode()})


def _statements(task: Task) -> Iterator[tuple[str, bytes]]:
    yield "instruction.md", task.instruction
    for number, turn in enumerate(task.turns, start=2):
        yield f"turns/turn_{number}.md", turn


def _in_text(place: str, text: bytes, names: tuple[bytes, ...]) -> Iterator[str]:
    lowered = text.lower()
    for name in names:
        if name in lowered:
            yield f"{place}: names the task: {name.decode()!r}"
    found = _FORBIDDEN_TEXT.search(text)
    if found is not None:
        yield f"{place}: holds {found[0].decode(errors='replace')!r}"


def _texts(path: str, content: bytes) -> Iterator[tuple[str, bytes]]:
    """The file itself, and the parts of a workbook or other ZIP."""
    yield repr(path), content
    if not content.startswith(b"PK"):
        return
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for part in archive.infolist()[:_MAX_PARTS]:
                with archive.open(part) as stream:
                    yield (
                        f"{path!r} ({part.filename})",
                        part.filename.encode() + b"\n" + stream.read(_MAX_PART_BYTES),
                    )
    except Exception:  # noqa: BLE001 - zipfile raises whatever its unpackers do
        yield f"{path!r} (broken archive)", b""


def _answers(task: Task, workspace: Mapping[str, bytes]) -> Iterator[str]:
    """A file of the gold answer that already lies at its place."""
    root = task.sample_dir("gold") / "workspace"
    for file in sorted(root.rglob("*")) if root.is_dir() else ():
        path = file.relative_to(root).as_posix()
        if file.is_file() and path in workspace:
            content = file.read_bytes()
            if len(content) >= _MIN_ANSWER_BYTES and workspace[path] == content:
                yield f"workspace: {path!r} is the gold answer itself"
