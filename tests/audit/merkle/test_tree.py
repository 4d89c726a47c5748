"""Random trees against a naive recursive implementation of RFC 6962; what Frontier and proofs refuse."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from audit.merkle import tree


def _sha(data):
    return hashlib.sha256(data).digest()


def naive_root(entries):
    """MTH of section 2.1, word for word."""
    n = len(entries)
    if n == 0:
        return _sha(b"")
    if n == 1:
        return _sha(b"\x00" + entries[0])
    k = 1
    while k * 2 < n:
        k *= 2
    return _sha(b"\x01" + naive_root(entries[:k]) + naive_root(entries[k:]))


def naive_path(m, entries):
    """PATH of section 2.1.1."""
    n = len(entries)
    if n <= 1:
        return []
    k = 1
    while k * 2 < n:
        k *= 2
    if m < k:
        return [*naive_path(m, entries[:k]), naive_root(entries[k:])]
    return [*naive_path(m - k, entries[k:]), naive_root(entries[:k])]


def naive_consistency(m, entries, complete=True):
    """SUBPROOF of section 2.1.2."""
    n = len(entries)
    if m == n:
        return [] if complete else [naive_root(entries)]
    k = 1
    while k * 2 < n:
        k *= 2
    if m <= k:
        return [*naive_consistency(m, entries[:k], complete), naive_root(entries[k:])]
    return [*naive_consistency(m - k, entries[k:], False), naive_root(entries[:k])]


def reader(entries):
    def subtree(level, index):
        return naive_root(entries[index << level : (index + 1) << level])

    return subtree


ENTRIES = st.lists(st.binary(max_size=6), min_size=1, max_size=40)


@pytest.mark.acceptance("log:1")
@settings(max_examples=1000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(ENTRIES, st.data())
def test_random_trees(entries, data):
    leaves = [tree.leaf_hash(entry) for entry in entries]
    size, root = len(entries), naive_root(entries)
    assert tree.root(leaves) == root
    assert tree.tree_root(size, reader(entries)) == root
    index = data.draw(st.integers(0, size - 1))
    path = tree.inclusion_proof(index, size, reader(entries))
    assert path == naive_path(index, entries)
    tree.verify_inclusion(leaves[index], index, size, path, root)
    old = data.draw(st.integers(1, size))
    proof = tree.consistency_proof(old, size, reader(entries))
    assert proof == naive_consistency(old, entries)
    tree.verify_consistency(old, naive_root(entries[:old]), size, root, proof)


@pytest.mark.acceptance("log:1")
@settings(max_examples=300, deadline=None)
@given(ENTRIES, st.data())
def test_no_other_leaf_root_or_proof_passes(entries, data):
    size, root = len(entries), naive_root(entries)
    index = data.draw(st.integers(0, size - 1))
    leaf, path = tree.leaf_hash(entries[index]), naive_path(index, entries)
    bit = data.draw(st.integers(0, 255))
    changed = data.draw(st.integers(0, len(path) + 1))
    parts = [leaf, root, *path]
    parts[changed] = (int.from_bytes(parts[changed], "big") ^ 1 << bit).to_bytes(32, "big")
    with pytest.raises(tree.ProofInvalid):
        tree.verify_inclusion(parts[0], index, size, parts[2:], parts[1])
    for wrong in ([*path, root], path[:-1] if path else [root]):
        with pytest.raises(tree.ProofInvalid):
            tree.verify_inclusion(leaf, index, size, wrong, root)


@pytest.mark.acceptance("log:1")
@settings(max_examples=300, deadline=None)
@given(ENTRIES, st.data())
def test_a_changed_prefix_is_no_prefix(entries, data):
    size, root = len(entries), naive_root(entries)
    old = data.draw(st.integers(1, size))
    place = data.draw(st.integers(0, old - 1))
    other = [*entries[:place], entries[place] + b"!", *entries[place + 1 : old]]
    with pytest.raises(tree.ProofInvalid):
        tree.verify_consistency(old, naive_root(other), size, root, naive_consistency(old, entries))


@settings(max_examples=200, deadline=None)
@given(ENTRIES, st.integers(0, 40))
def test_a_frontier_is_restored_from_its_edge(entries, cut):
    leaves = [tree.leaf_hash(entry) for entry in entries]
    before = tree.Frontier()
    before.extend(leaves[:cut])
    after = tree.Frontier(before.size, before.edge)
    after.extend(leaves[cut:])
    assert after.size == len(entries)
    assert after.root() == naive_root(entries)
    assert before.root() == naive_root(entries[:cut])


def test_a_frontier_takes_whole_subtrees_where_they_fit():
    entries = [b"%d" % number for number in range(11)]
    found = tree.Frontier()
    found.append(naive_root(entries[:8]), 3)
    found.append(naive_root(entries[8:10]), 1)
    found.append(tree.leaf_hash(entries[10]))
    assert found.root() == naive_root(entries)
    with pytest.raises(ValueError, match="cannot follow"):
        found.append(naive_root(entries[:2]), 1)


@pytest.mark.parametrize(("size", "count"), [(1, 0), (3, 1), (4, 2), (-1, 0), (0, 1)])
def test_an_edge_that_does_not_fit_is_refused(size, count):
    with pytest.raises(ValueError, match="right edge"):
        tree.Frontier(size, [bytes(32)] * count)


def test_an_edge_of_short_hashes_is_refused():
    with pytest.raises(ValueError, match="right edge"):
        tree.Frontier(1, [bytes(31)])


def test_the_empty_tree():
    # SHA-256 of nothing, from FIPS 180-4's examples.
    expected = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert tree.Frontier().root().hex() == expected
    assert tree.tree_root(0, lambda level, index: b"") == tree.EMPTY_ROOT


@pytest.mark.parametrize(("old", "new"), [(0, 0), (0, 5), (6, 5), (-1, 5)])
def test_no_consistency_from_nothing_or_back(old, new):
    with pytest.raises(ValueError, match="consistency"):
        tree.consistency_proof(old, new, reader([b"x"] * 8))


@pytest.mark.parametrize(("index", "size"), [(0, 0), (5, 5), (-1, 5)])
def test_no_proof_of_a_leaf_that_is_not_there(index, size):
    with pytest.raises(ValueError, match="no leaf"):
        tree.inclusion_proof(index, size, reader([b"x"] * 8))
