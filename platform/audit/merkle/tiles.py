"""Tiles and entry bundles of C2SP tlog-tiles: a tree cut into files of 256 hashes, and the entries beside them.

A tile of level L holds the roots of complete subtrees of 256**L leaves. An entry bundle holds the entries of one
level-0 tile; in an export an entry of length 0 is withheld, and its leaf hash stands in the tile.
"""

from __future__ import annotations

import hashlib
import re
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from audit.merkle.tree import HASH_BYTES, parents

HEIGHT = 8
WIDTH = 1 << HEIGHT
TILE_BYTES = WIDTH * HASH_BYTES
LENGTH_BYTES = 2
MAXIMUM_ENTRY = 0xFFFF
MAXIMUM_LEVEL = 63
MAXIMUM_PATH = 128
"""Characters of a tile's path; more name a number that no tree reaches."""

_PATH = re.compile(r"(?:tile/(0|[1-9][0-9]?)|(entries))/((?:x[0-9]{3}/)*[0-9]{3})(?:\.p/([1-9][0-9]{0,2}))?")


class TileInvalid(ValueError):
    """A tile, a bundle or its path is malformed."""


@dataclass(frozen=True)
class TilePath:
    """`level` is None for a bundle of entries; `width` is the number of hashes or entries, 1 to 256."""

    level: int | None
    number: int
    width: int


def _numbered(number: int, width: int) -> str:
    if number < 0 or not 0 < width <= WIDTH:
        raise TileInvalid(f"no tile {number} of width {width}")
    path = f"{number % 1000:03}"
    while number := number // 1000:
        path = f"x{number % 1000:03}/{path}"
    return path if width == WIDTH else f"{path}.p/{width}"


def tile_path(level: int, number: int, width: int = WIDTH) -> str:
    """`tile/0/x001/067` for tile 1067 of level 0, with `.p/<width>` where it is not full. Raises TileInvalid."""
    if not 0 <= level <= MAXIMUM_LEVEL:
        raise TileInvalid(f"no level {level}")
    return f"tile/{level}/{_numbered(number, width)}"


def entries_path(number: int, width: int = WIDTH) -> str:
    """`entries/x001/067` for the bundle beside tile 1067 of level 0. Raises TileInvalid."""
    return f"entries/{_numbered(number, width)}"


def parse_path(path: str) -> TilePath:
    """The tile or bundle that a path names. Raises TileInvalid where it is not exactly as the writers make it."""
    match = _PATH.fullmatch(path) if len(path) <= MAXIMUM_PATH else None
    if match is None:
        raise TileInvalid(f"{path[:80]!r} names no tile")
    number = int(match[3].replace("x", "").replace("/", ""))
    width = int(match[4] or WIDTH)
    level = None if match[2] else int(match[1])
    written = entries_path(number, width) if level is None else tile_path(level, number, width)
    if written != path:
        raise TileInvalid(f"{path[:80]!r} names no tile")
    return TilePath(level, number, width)


def tile_width(level: int, number: int, size: int) -> int:
    """How many hashes tile `number` of `level` has in a tree of `size` leaves: 0 (none) to 256 (full)."""
    return max(0, min(WIDTH, (size >> (HEIGHT * level)) - number * WIDTH))


def tiles_of(size: int) -> list[tuple[int, int]]:
    """(level, hashes in that level's tiles together) of a tree of `size` leaves, level 0 first."""
    levels = []
    level = 0
    while count := size >> (HEIGHT * level):
        levels.append((level, count))
        level += 1
    return levels


def split_hashes(data: bytes) -> list[bytes]:
    """The hashes of a tile. Raises TileInvalid where the length is no multiple of 32 or not 1 to 256 hashes."""
    if not data or len(data) % HASH_BYTES or len(data) > TILE_BYTES:
        raise TileInvalid(f"{len(data)} bytes are not a tile")
    return [data[at : at + HASH_BYTES] for at in range(0, len(data), HASH_BYTES)]


def tile_root(hashes: Sequence[bytes]) -> bytes:
    """The root over a power of two of neighbouring hashes; over 256 it is the hash one level of tiles up."""
    while len(hashes) > 1:
        hashes = parents(hashes)
    return hashes[0]


def full_tile_root(tile: bytes) -> bytes:
    """The same over the 8,192 bytes of a full tile, without taking them apart first."""
    sha256 = hashlib.sha256
    pair = 2 * HASH_BYTES
    return tile_root([sha256(b"\x01" + tile[at : at + pair]).digest() for at in range(0, TILE_BYTES, pair)])


class TileReader:
    """Complete subtrees of a tree of `size` leaves, read from its tiles.

    `read(path)` returns a tile's bytes; of the right edge it is asked for the width that `size` implies. A few tiles
    are kept with their inner nodes, about 35 KB each.
    """

    def __init__(self, read: Callable[[str], bytes], size: int, *, keep: int = 64) -> None:
        self.size = size
        self._read = read
        self._keep = keep
        self._tiles: OrderedDict[tuple[int, int], list[list[bytes]]] = OrderedDict()

    def subtree(self, level: int, index: int) -> bytes:
        """The root over leaves index * 2**level to (index + 1) * 2**level - 1.

        Raises ValueError where they are not all in the tree, TileInvalid where a tile is malformed, and what `read`
        raises.
        """
        if level < 0 or index < 0 or (index + 1) << level > self.size:
            raise ValueError(f"no complete subtree {index} of level {level} in a tree of {self.size}")
        tile_level, inner = divmod(level, HEIGHT)
        number, position = divmod(index, WIDTH >> inner)
        return self._nodes(tile_level, number)[inner][position]

    def _nodes(self, level: int, number: int) -> list[list[bytes]]:
        key = (level, number)
        if key in self._tiles:
            self._tiles.move_to_end(key)
            return self._tiles[key]
        width = tile_width(level, number, self.size)
        row = split_hashes(self._read(tile_path(level, number, width)))
        if len(row) != width:
            raise TileInvalid(f"{tile_path(level, number, width)} has {len(row)} hashes")
        nodes = [row]
        for _ in range(HEIGHT - 1):
            nodes.append(parents(nodes[-1][: len(nodes[-1]) & ~1]))
        self._tiles[key] = nodes
        if len(self._tiles) > self._keep:
            self._tiles.popitem(last=False)
        return nodes


def encode_bundle(entries: Sequence[bytes | None]) -> bytes:
    """1 to 256 entries, each with its length in two bytes, big-endian; None (withheld) has length 0.

    Raises TileInvalid where an entry is empty or longer than 65,535 bytes, or their number is wrong.
    """
    if not 0 < len(entries) <= WIDTH:
        raise TileInvalid(f"{len(entries)} entries are not a bundle")
    parts: list[bytes] = []
    for entry in entries:
        if entry is not None and not 0 < len(entry) <= MAXIMUM_ENTRY:
            raise TileInvalid(f"an entry of {len(entry)} bytes does not fit into a bundle")
        data = entry or b""
        parts += (len(data).to_bytes(LENGTH_BYTES, "big"), data)
    return b"".join(parts)


def decode_bundle(data: bytes) -> list[bytes | None]:
    """The entries of a bundle, None where one is withheld. Raises TileInvalid where the framing is broken."""
    entries: list[bytes | None] = []
    add = entries.append
    at, end = 0, len(data)
    while at + LENGTH_BYTES <= end:
        begin = at + LENGTH_BYTES
        at = begin + (data[begin - 2] << 8 | data[begin - 1])
        add(data[begin:at] if at > begin else None)
    if at != end:
        raise TileInvalid(f"the bundle's entry {len(entries)} is cut off")
    if not 0 < len(entries) <= WIDTH:
        raise TileInvalid(f"{len(entries)} entries are not a bundle")
    return entries
