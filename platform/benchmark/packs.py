"""Packs: the assets of many tasks in one object, each task's part at a known place.

A part is an uncompressed tar of the task's own files under their own names, so that digests can be computed again
from what is stored.
"""

from __future__ import annotations

import hashlib
import io
import tarfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

PREFIXES = {
    "environment": ("instruction.md", "turns/", "environment/"),
    "grading": ("tests/verifier.toml", "tests/grading/"),
    "gold": ("task.toml", "tests/gold/"),
}
"""Which files of a task directory travel in which kind of pack; together they are all of them."""
DERIVED_RULES = "rules.json"
"""The rules in the form the grader reads, stored beside their source so that no worker parses YAML."""
PACK_BYTES = 8 * 1024 * 1024
"""A pack is closed once it has grown past this size."""


@dataclass(frozen=True)
class Part:
    """Where a task's part lies in a pack, in bytes."""

    task: str
    offset: int
    size: int


@dataclass
class Pack:
    """A pack being filled."""

    content: io.BytesIO = field(default_factory=io.BytesIO)
    parts: list[Part] = field(default_factory=list)

    @property
    def size(self) -> int:
        return self.content.tell()

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.content.getbuffer()).hexdigest()

    def add(self, task: str, files: Mapping[str, bytes]) -> None:
        data = join(files)
        self.parts.append(Part(task, self.size, len(data)))
        self.content.write(data)


def packs_of(assets: Iterator[tuple[str, Mapping[str, bytes]]]) -> Iterator[Pack]:
    """Fill packs from (task, files) in the order given; each is handed out when full."""
    pack = Pack()
    for task, files in assets:
        pack.add(task, files)
        if pack.size >= PACK_BYTES:
            yield pack
            pack = Pack()
    if pack.parts:
        yield pack


def join(files: Mapping[str, bytes]) -> bytes:
    """Files as one uncompressed tar with fixed times and owners, sorted by name."""
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w", format=tarfile.USTAR_FORMAT, bufsize=512) as archive:
        for name in sorted(files):
            entry = tarfile.TarInfo(name)
            entry.size = len(files[name])
            archive.addfile(entry, io.BytesIO(files[name]))
    return target.getvalue()


def split(part: bytes) -> dict[str, bytes]:
    """The files of a part again."""
    with tarfile.open(fileobj=io.BytesIO(part), mode="r:") as archive:
        return {entry.name: archive.extractfile(entry).read() for entry in archive}  # type: ignore[union-attr]
