"""One tile of leaves with the entries beside it: framing, hashes, and in strict mode what each entry says.

Runs in the calling process or in helpers; what comes back is small.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from audit.merkle.tiles import (
    LENGTH_BYTES,
    WIDTH,
    TileInvalid,
    decode_bundle,
    entries_path,
    split_hashes,
    tile_path,
    tile_root,
)
from audit.merkle.tiles import tile_width as width_of
from audit.merkle.tree import HASH_BYTES, leaf_hash
from client.audit.events import Malformed, read_entry
from client.audit.source import Missing, Source

Found = tuple[int, int, str]
"""First and last entry concerned, and what is wrong."""


Fact = tuple[int, str, str, str, "dict[str, Any] | None", int]
"""A disclosed entry for the rules: offset in the bundle, kind, subject, outcome, facts where a rule reads the kind,
and its time in microseconds."""


@dataclass(frozen=True)
class Task:
    """What every bundle of one verification has in common."""

    source: Source
    size: int
    files: Mapping[str, str]
    strict: bool
    kinds: frozenset[str] = frozenset()
    """Kinds whose facts the rules need."""


@dataclass
class Checked:
    """One bundle. `root` is over all its leaves where it is full; `leaves` only where it is not, or in doubt."""

    number: int
    width: int
    root: bytes | None = None
    leaves: list[bytes] | None = None
    withheld: list[int] = field(default_factory=list)
    problems: list[Found] = field(default_factory=list)
    malformed: list[tuple[int, str]] = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)


def read_file(task: Task, name: str) -> tuple[bytes, str | None]:
    """The file's bytes, and what is wrong with them by the manifest. Raises Missing."""
    if name not in task.files:
        raise Missing(name)
    data = task.source.read(name)
    if hashlib.sha256(data).hexdigest() != task.files[name]:
        return data, f"{name} has another SHA-256 than the manifest says"
    return data, None


def check_bundle(task: Task, number: int) -> Checked:
    """Everything about tile `number` of level 0 and its bundle that they alone can tell."""
    width = width_of(0, number, task.size)
    first, last = number * WIDTH, number * WIDTH + width - 1
    found = Checked(number, width)
    name = tile_path(0, number, width)
    try:
        tile, changed = read_file(task, name)
        leaves = split_hashes(tile)
    except (Missing, TileInvalid) as error:
        found.problems.append((first, last, f"{name} is missing or no tile: {error}"))
        return found
    if len(leaves) != width:
        found.problems.append((first, last, f"{name} has {len(leaves)} hashes in place of {width}"))
        return found
    entries, wrong = _entries(task, found)
    if entries is None:
        found.withheld = list(range(width))
    else:
        leaves = _compare(task, found, entries, leaves, tile)
        if task.strict:
            _read(task, found, entries)
    doubts = [*wrong, *([(first, last, changed)] if changed else [])]
    if not found.problems:
        found.problems += doubts[:1]
    if width == WIDTH:
        found.root = tile_root(leaves)
    else:
        found.leaves = leaves
    return found


def _entries(task: Task, found: Checked) -> tuple[list[bytes | None] | None, list[Found]]:
    """The bundle's entries, None where it is wholly withheld; and what framing or manifest say against it."""
    name, width = entries_path(found.number, found.width), found.width
    first = found.number * WIDTH
    if name not in task.files:
        return None, []
    try:
        data, changed = read_file(task, name)
    except Missing:
        return None, [(first, first + width - 1, f"{name} is missing")]
    try:
        entries = decode_bundle(data)
    except TileInvalid:
        entries = _split_loosely(data)
    if len(entries) != width:
        at = first + min(len(entries), width - 1)
        what = f"{name} holds {len(entries)} whole entries in place of {width}"
        return [*entries, *[None] * width][:width], [(at, at, what)]
    return entries, [(first, first + width - 1, changed)] if changed else []


def _split_loosely(data: bytes) -> list[bytes | None]:
    """What can be read of a bundle whose framing is broken, so that the first entry that is wrong can be named."""
    entries: list[bytes | None] = []
    at = 0
    while at + LENGTH_BYTES <= len(data):
        begin = at + LENGTH_BYTES
        at = begin + int.from_bytes(data[at:begin], "big")
        if at <= len(data):
            entries.append(data[begin:at] or None)
    return entries


def _compare(
    task: Task, found: Checked, entries: list[bytes | None], leaves: list[bytes], tile: bytes
) -> list[bytes]:
    """Check every disclosed entry against its leaf; returns the leaves to go on with."""
    sha256 = hashlib.sha256
    found.withheld = [at for at, entry in enumerate(entries) if entry is None] if None in entries else []
    if not found.withheld:
        hashes = [sha256(b"\x00" + entry).digest() for entry in entries]  # type: ignore[operator]
        if b"".join(hashes) == tile:
            return leaves
    else:
        hashes = [
            leaf if entry is None else leaf_hash(entry) for entry, leaf in zip(entries, leaves, strict=True)
        ]
        if hashes == leaves:
            return leaves
    return _blame(task, found, hashes, leaves)


def _blame(task: Task, found: Checked, hashes: list[bytes], leaves: list[bytes]) -> list[bytes]:
    """Entry or tile? The tile one level up says which of the two it was made from."""
    offset = next(at for at, (ours, theirs) in enumerate(zip(hashes, leaves, strict=True)) if ours != theirs)
    at = found.number * WIDTH + offset
    tile_is_wrong = found.width == WIDTH and _above(task, found.number) == tile_root(hashes)
    guilty = (
        "the leaf in its tile was changed" if tile_is_wrong else "it does not hash to the leaf in its tile"
    )
    found.problems.append((at, at, guilty))
    if not tile_is_wrong:
        return leaves
    found.leaves = hashes
    return hashes


def _above(task: Task, number: int) -> bytes | None:
    """The hash that the tile one level up holds for tile `number`."""
    above, offset = divmod(number, WIDTH)
    try:
        data = task.source.read(tile_path(1, above, width_of(1, above, task.size)))
    except (Missing, TileInvalid):
        return None
    return data[offset * HASH_BYTES : (offset + 1) * HASH_BYTES]


def _read(task: Task, found: Checked, entries: Sequence[bytes | None]) -> None:
    """Strict mode: canonical form, fields, and the facts that the rules need."""
    kinds, facts, base = task.kinds, found.facts, found.number * WIDTH
    for offset, entry in enumerate(entries):
        if entry is None:
            continue
        try:
            kind, subject, outcome, data, at = read_entry(entry)
        except Malformed as error:
            found.malformed.append((base + offset, str(error)))
        else:
            facts.append((offset, kind, subject, outcome, data if kind in kinds else None, at))
