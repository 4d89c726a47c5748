"""Paths, tiles and bundles of C2SP tlog-tiles."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.merkle import tiles, tree
from audit.merkle.export import ExportWriter


@pytest.mark.parametrize(
    ("level", "number", "width", "path"),
    [
        (0, 0, 256, "tile/0/000"),
        (0, 1067, 256, "tile/0/x001/067"),
        (1, 1234067, 256, "tile/1/x001/x234/067"),  # the specification's example
        (63, 999, 1, "tile/63/999.p/1"),
        (2, 1000, 255, "tile/2/x001/000.p/255"),
    ],
)
def test_paths(level, number, width, path):
    assert tiles.tile_path(level, number, width) == path
    assert tiles.parse_path(path) == tiles.TilePath(level, number, width)


def test_paths_of_entries():
    assert tiles.entries_path(1234067, 17) == "entries/x001/x234/067.p/17"
    assert tiles.parse_path("entries/x001/x234/067.p/17") == tiles.TilePath(None, 1234067, 17)


@pytest.mark.parametrize(
    "path",
    [
        *("tile/0/0", "tile/0/x000/001", "tile/00/001", "tile/64/001", "tile/0/001.p/0", "tile/0/001.p/256"),
        *(
            "tile/0/001.p/01",
            "tile/0/001/002",
            "tile/0/../001",
            "entries/001/",
            "tile/-1/001",
            "",
            "x001/001",
        ),
        *("tile/0/001\n", "tile/0/٠٠١", "tile/entries/001"),
    ],
)
def test_other_paths_name_no_tile(path):
    with pytest.raises(tiles.TileInvalid):
        tiles.parse_path(path)


def test_the_specifications_example_of_a_tree():
    """A tree of 70,000: 273 full tiles and one of 112 at level 0, one full and one of 17 above, one of 1 on top."""
    assert tiles.tiles_of(70_000) == [(0, 70_000), (1, 273), (2, 1)]
    widths = [
        tiles.tile_width(*place, 70_000) for place in [(0, 272), (0, 273), (1, 0), (1, 1), (2, 0), (3, 0)]
    ]
    assert widths == [256, 112, 256, 17, 1, 0]


ENTRIES = st.lists(st.none() | st.binary(min_size=1, max_size=40), min_size=1, max_size=256)


@given(ENTRIES)
def test_bundles_come_back(entries):
    assert tiles.decode_bundle(tiles.encode_bundle(entries)) == entries


def test_a_bundle_by_hand():
    assert tiles.encode_bundle([b"ab", None, b"c"]) == b"\x00\x02ab\x00\x00\x00\x01c"
    long = b"x" * 65_535
    assert tiles.decode_bundle(b"\xff\xff" + long) == [long]


@pytest.mark.parametrize(
    "data", [b"", b"\x00", b"\x00\x02a", b"\x00\x01ab", b"\x00\x00" * 257, b"\x00\x01a\x00"]
)
def test_broken_framing_is_refused(data):
    with pytest.raises(tiles.TileInvalid):
        tiles.decode_bundle(data)


@pytest.mark.parametrize("entries", [[], [b""], [b"x" * 65_536], [None] * 257])
def test_what_fits_into_no_bundle_is_refused(entries):
    with pytest.raises(tiles.TileInvalid):
        tiles.encode_bundle(entries)


@given(st.binary(max_size=400))
def test_any_bytes_are_refused_or_come_back(data):
    try:
        entries = tiles.decode_bundle(data)
    except tiles.TileInvalid:
        return
    assert tiles.encode_bundle(entries) == data


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Tiles of 66,000 entries, which need three levels; and the leaf hashes."""
    folder = tmp_path_factory.mktemp("tiles")
    writer = ExportWriter(folder, "bench.example/log")
    leaves = [tree.leaf_hash(b"%d" % number) for number in range(66_000)]
    writer.extend((None, leaf) for leaf in leaves)
    writer.finish(checkpoints=[], keys=[], made_at="")
    return folder, leaves


def test_proofs_from_tiles_read_few_of_them(written):
    folder, leaves = written
    read: list[str] = []

    def fetch(path):
        read.append(path)
        return (folder / path).read_bytes()

    reader = tiles.TileReader(fetch, len(leaves))
    path = tree.inclusion_proof(12_345, len(leaves), reader.subtree)
    tree.verify_inclusion(leaves[12_345], 12_345, len(leaves), path, tree.root(leaves))
    assert sorted(read) == ["tile/0/048", "tile/0/257.p/208", "tile/1/000", "tile/1/001.p/1"]


@settings(max_examples=12, deadline=None)
@given(old=st.integers(1, 66_000))
def test_consistency_from_tiles(written, old):
    folder, leaves = written
    reader = tiles.TileReader(lambda path: (folder / path).read_bytes(), len(leaves), keep=3)
    proof = tree.consistency_proof(old, len(leaves), reader.subtree)
    tree.verify_consistency(old, tree.root(leaves[:old]), len(leaves), tree.root(leaves), proof)


def test_a_reader_keeps_a_bounded_number_of_tiles(written):
    folder, leaves = written
    read: list[str] = []

    def fetch(path):
        read.append(path)
        return (folder / path).read_bytes()

    reader = tiles.TileReader(fetch, len(leaves), keep=2)
    for number in (0, 1, 0, 2, 0, 1):
        assert reader.subtree(0, number * 256) == leaves[number * 256]
    assert read == ["tile/0/000", "tile/0/001", "tile/0/002", "tile/0/001"]


def test_no_subtree_beyond_the_tree(written):
    folder, leaves = written
    reader = tiles.TileReader(lambda path: (folder / path).read_bytes(), len(leaves))
    for level, index in [(0, 66_000), (4, 4_125), (17, 0), (-1, 0), (0, -1)]:
        with pytest.raises(ValueError, match="no complete subtree"):
            reader.subtree(level, index)


def test_a_tile_of_another_width_is_refused(written):
    reader = tiles.TileReader(lambda path: bytes(32 * 5), 66_000)
    with pytest.raises(tiles.TileInvalid):
        reader.subtree(0, 0)
