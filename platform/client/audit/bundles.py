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
    full_tile_root,
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
    except Missing:
        found.problems.append((first, last, f"{name} is missing"))
        return found
    if len(tile) != width * HASH_BYTES:
        found.problems.append((first, last, f"{name} has {len(tile)} bytes in place of {width * HASH_BYTES}"))
        return found
    tile, wrong = _check_entries(task, found, tile)
    doubts = [*wrong, *([(first, last, changed)] if changed else [])]
    if not found.problems:
        found.problems += doubts[:1]
    if width == WIDTH:
        found.root = full_tile_root(tile)
    else:
        found.leaves = split_hashes(tile)
    return found


def _check_entries(task: Task, found: Checked, tile: bytes) -> tuple[bytes, list[Found]]:
    """The bundle against its tile: the tile to go on with, and what framing or manifest say against the bundle."""
    name, first = entries_path(found.number, found.width), found.number * WIDTH
    last = first + found.width - 1
    if name not in task.files:
        found.withheld = list(range(found.width))
        return tile, []
    try:
        data, changed = read_file(task, name)
    except Missing:
        found.withheld = list(range(found.width))
        return tile, [(first, last, f"{name} is missing")]
    wrong = [(first, last, changed)] if changed else []
    entries: Sequence[bytes | None]
    if _hash_all(data, found.width) == tile:
        entries = decode_bundle(data) if task.strict else ()
    else:
        entries, short = _entries(data, found, name)
        wrong = short or wrong
        tile = _compare(task, found, entries, tile)
    if task.strict:
        _read(task, found, entries)
    return tile, wrong


def _hash_all(data: bytes, width: int) -> bytes | None:
    """The leaf hashes of a bundle of which nothing is withheld, in one go; None where it has another form."""
    sha256 = hashlib.sha256
    hashes: list[bytes] = []
    add = hashes.append
    at = 0
    try:
        for _ in range(width):
            begin = at + LENGTH_BYTES
            at = begin + (data[at] << 8 | data[at + 1])
            add(sha256(b"\x00" + data[begin:at]).digest())
    except IndexError:
        return None
    return b"".join(hashes) if at == len(data) else None


def _entries(data: bytes, found: Checked, name: str) -> tuple[list[bytes | None], list[Found]]:
    """As many entries as the tile has leaves, None where one is withheld or lacking; and what is lacking."""
    try:
        entries = decode_bundle(data)
    except TileInvalid:
        entries = _split_loosely(data)
    if len(entries) == found.width:
        return entries, []
    at = found.number * WIDTH + min(len(entries), found.width - 1)
    what = f"{name} holds {len(entries)} whole entries in place of {found.width}"
    return [*entries, *[None] * found.width][: found.width], [(at, at, what)]


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


def _compare(task: Task, found: Checked, entries: Sequence[bytes | None], tile: bytes) -> bytes:
    """Check every disclosed entry against its leaf; returns the tile to go on with."""
    leaves = split_hashes(tile)
    found.withheld = [at for at, entry in enumerate(entries) if entry is None]
    hashes = [
        leaf if entry is None else leaf_hash(entry) for entry, leaf in zip(entries, leaves, strict=True)
    ]
    return tile if hashes == leaves else _blame(task, found, hashes, leaves)


def _blame(task: Task, found: Checked, hashes: list[bytes], leaves: list[bytes]) -> bytes:
    """Entry or tile? The tile one level up says which of the two it was made from."""
    offset = next(at for at, (ours, theirs) in enumerate(zip(hashes, leaves, strict=True)) if ours != theirs)
    at = found.number * WIDTH + offset
    tile_is_wrong = found.width == WIDTH and _above(task, found.number) == tile_root(hashes)
    guilty = (
        "the leaf in its tile was changed" if tile_is_wrong else "it does not hash to the leaf in its tile"
    )
    found.problems.append((at, at, guilty))
    if not tile_is_wrong:
        return b"".join(leaves)
    found.leaves = hashes
    return b"".join(hashes)


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
