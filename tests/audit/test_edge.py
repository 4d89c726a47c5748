"""The right edge that the sequencer holds: its roots and tiles are those of the whole tree."""

from __future__ import annotations

import hashlib
import random

import pytest

from audit.edge import RightEdge
from audit.merkle import tree


def leaves(count: int) -> list[bytes]:
    return [hashlib.sha256(str(number).encode()).digest() for number in range(count)]


@pytest.mark.parametrize("size", [0, 1, 2, 255, 256, 257, 511, 512, 1000, 65535, 65536, 65537, 70000])
def test_root_and_tiles_are_those_of_the_whole_tree(size: int) -> None:
    edge, hashes, tiles = RightEdge(), leaves(size), {}
    left, draw = hashes, random.Random(size)
    while left:
        step = draw.randint(1, 700)
        for found in edge.extend(left[:step]):
            tiles[found.level, found.number] = found
        left = left[step:]
    assert edge.size == size
    assert edge.root() == tree.root(hashes)
    assert {place for place in tiles if place[0] == 0} == {(0, number) for number in range(size // 256)}
    assert {place for place in tiles if place[0] > 0} == ({(1, 0)} if size >= 65536 else set())
    for (level, number), found in tiles.items():
        width = 256 ** (level + 1)
        below = hashes[number * width : (number + 1) * width]
        assert found.root == tree.root(below)
        assert found.hashes[:32] == tree.root(below[: 256**level])
        assert len(found.hashes) == 256 * 32
