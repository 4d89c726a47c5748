"""The right edge of the tree in whole tiles: what the sequencer holds in memory, at most 255 hashes a level."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from audit.merkle.tiles import HEIGHT, WIDTH, tile_root
from audit.merkle.tree import Frontier


class FullTile(NamedTuple):
    """256 hashes of 32 bytes: tile `number` of `level` (C2SP tlog-tiles, height 8); and the root over them."""

    level: int
    number: int
    hashes: bytes
    root: bytes


class RightEdge:
    """A tree that only grows. Its full tiles are handed out as they fill, and forgotten."""

    def __init__(self) -> None:
        self.size = 0
        self._rows: list[list[bytes]] = [[]]

    def extend(self, leaf_hashes: Iterable[bytes]) -> list[FullTile]:
        """Add leaf hashes in order; returns the tiles that they filled, in the order in which they did."""
        filled: list[FullTile] = []
        row = self._rows[0]
        for digest in leaf_hashes:
            row.append(digest)
            self.size += 1
            if len(row) == WIDTH:
                self._fill(0, filled)
        return filled

    def _fill(self, level: int, filled: list[FullTile]) -> None:
        row = self._rows[level]
        number = (self.size >> (HEIGHT * (level + 1))) - 1
        digest = tile_root(row)
        filled.append(FullTile(level, number, b"".join(row), digest))
        if level + 1 == len(self._rows):
            self._rows.append([])
        above = self._rows[level + 1]
        above.append(digest)
        row.clear()
        if len(above) == WIDTH:
            self._fill(level + 1, filled)

    def root(self) -> bytes:
        """The root over all leaves (RFC 6962, section 2.1), 32 bytes; a few hundred hashes a level."""
        tree = Frontier()
        for level in range(len(self._rows) - 1, -1, -1):
            for digest in self._rows[level]:
                tree.append(digest, HEIGHT * level)
        return tree.root()
