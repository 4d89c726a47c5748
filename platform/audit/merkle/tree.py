"""The Merkle tree of RFC 6962: roots, inclusion proofs, consistency proofs. Hashes are 32 bytes of SHA-256.

A proof is made through a reader `subtree(level, index)`, which returns the root over the complete subtree of leaves
index * 2**level to (index + 1) * 2**level - 1; so a proof needs a few tiles and never all leaves.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from audit.canonical import leaf_hash  # noqa: F401 (part of this module too)

HASH_BYTES = 32
EMPTY_ROOT = hashlib.sha256(b"").digest()

Subtree: TypeAlias = Callable[[int, int], bytes]


class ProofInvalid(ValueError):
    """The proof does not show what it should: it is malformed, of the wrong length, or leads to another root."""


def node_hash(left: bytes, right: bytes) -> bytes:
    """The hash of an inner node, SHA-256(0x01 ‖ left ‖ right) (RFC 6962, section 2.1)."""
    return hashlib.sha256(b"\x01" + left + right).digest()


def parents(hashes: Sequence[bytes]) -> list[bytes]:
    """The next level above an even number of neighbouring nodes: half as many hashes."""
    sha256 = hashlib.sha256
    pairs = iter(hashes)
    return [sha256(b"\x01" + left + right).digest() for left, right in zip(pairs, pairs, strict=True)]


class Frontier:
    """A growing tree of which only the right edge is held: at most 64 hashes, whatever its size.

    The right edge are the roots of the complete subtrees that the size's binary digits name, largest first.
    """

    def __init__(self, size: int = 0, edge: Iterable[bytes] = ()) -> None:
        """A tree of `size` leaves restored from its right edge. Raises ValueError where the two do not fit."""
        self.size = size
        self._edge = list(edge)
        if size < 0 or len(self._edge) != size.bit_count() or any(len(h) != HASH_BYTES for h in self._edge):
            raise ValueError(f"{len(self._edge)} hashes are not the right edge of a tree of {size} leaves")

    @property
    def edge(self) -> tuple[bytes, ...]:
        """The right edge, largest subtree first; with `size` it restores the tree."""
        return tuple(self._edge)

    def append(self, digest: bytes, level: int = 0) -> None:
        """Add one leaf hash, or the root over 2**level leaves where the size is a multiple of 2**level.

        Raises ValueError elsewhere.
        """
        rest, low = divmod(self.size, 1 << level)
        if low:
            raise ValueError(f"a subtree of 2**{level} leaves cannot follow leaf {self.size}")
        edge = self._edge
        while rest & 1:
            digest = node_hash(edge.pop(), digest)
            rest >>= 1
        edge.append(digest)
        self.size += 1 << level

    def extend(self, hashes: Iterable[bytes]) -> None:
        """Add leaf hashes in order."""
        for digest in hashes:
            self.append(digest)

    def copy(self) -> Frontier:
        """An independent tree of the same leaves."""
        return Frontier(self.size, self._edge)

    def root(self) -> bytes:
        """The root over all leaves so far; EMPTY_ROOT where there is none."""
        if not self._edge:
            return EMPTY_ROOT
        *rest, found = self._edge
        for digest in reversed(rest):
            found = node_hash(digest, found)
        return found


def root(leaf_hashes: Iterable[bytes]) -> bytes:
    """The Merkle tree hash over these leaf hashes (RFC 6962, section 2.1)."""
    tree = Frontier()
    tree.extend(leaf_hashes)
    return tree.root()


def _split(count: int) -> int:
    """The largest power of two smaller than `count`, which is at least 2."""
    return 1 << ((count - 1).bit_length() - 1)


def range_root(begin: int, end: int, subtree: Subtree) -> bytes:
    """The node over leaves begin to end - 1, as the tree's definition cuts them."""
    count = end - begin
    if count & (count - 1) == 0:
        level = count.bit_length() - 1
        return subtree(level, begin >> level)
    middle = begin + _split(count)
    return node_hash(range_root(begin, middle, subtree), range_root(middle, end, subtree))


def tree_root(size: int, subtree: Subtree) -> bytes:
    """The root over the first `size` leaves."""
    return range_root(0, size, subtree) if size else EMPTY_ROOT


def inclusion_proof(index: int, size: int, subtree: Subtree) -> list[bytes]:
    """The audit path of leaf `index` in the tree of `size` leaves, the leaf's sibling first (RFC 6962, 2.1.1).

    Raises ValueError where there is no such leaf.
    """
    if not 0 <= index < size:
        raise ValueError(f"no leaf {index} in a tree of {size}")
    path: list[bytes] = []
    begin, end = 0, size
    while end - begin > 1:
        middle = begin + _split(end - begin)
        if index < middle:
            path.append(range_root(middle, end, subtree))
            end = middle
        else:
            path.append(range_root(begin, middle, subtree))
            begin = middle
    return path[::-1]


def consistency_proof(old: int, new: int, subtree: Subtree) -> list[bytes]:
    """The proof that the tree of `old` leaves is a prefix of that of `new` (RFC 6962, 2.1.2); empty where equal.

    Raises ValueError where `old` is 0, since nothing can be shown about an empty tree, or larger than `new`.
    """
    if not 0 < old <= new:
        raise ValueError(f"no consistency proof from {old} to {new} leaves")
    proof: list[bytes] = []
    begin, end = 0, new
    while old != end:
        middle = begin + _split(end - begin)
        if old <= middle:
            proof.append(range_root(middle, end, subtree))
            end = middle
        else:
            proof.append(range_root(begin, middle, subtree))
            begin = middle
    if begin:
        proof.append(range_root(begin, end, subtree))
    return proof[::-1]


def _require_hashes(proof: Sequence[bytes]) -> None:
    if any(len(digest) != HASH_BYTES for digest in proof):
        raise ProofInvalid("a hash of the proof is not 32 bytes long")


def verify_inclusion(leaf: bytes, index: int, size: int, proof: Sequence[bytes], root: bytes) -> None:
    """Check that leaf hash `leaf` is number `index` of the tree with `root` (RFC 9162, section 2.1.3.2).

    Raises ProofInvalid.
    """
    if not 0 <= index < size:
        raise ProofInvalid(f"there is no leaf {index} in a tree of {size}")
    _require_hashes([leaf, *proof])
    node, last, found = index, size - 1, leaf
    for digest in proof:
        if last == 0:
            raise ProofInvalid("the proof is too long")
        if node & 1 or node == last:
            found = node_hash(digest, found)
            while not node & 1 and node:
                node, last = node >> 1, last >> 1
        else:
            found = node_hash(found, digest)
        node, last = node >> 1, last >> 1
    if last:
        raise ProofInvalid("the proof is too short")
    if found != root:
        raise ProofInvalid(f"leaf {index} does not lead to the root of the tree of {size}")


def verify_consistency(
    old_size: int, old_root: bytes, new_size: int, new_root: bytes, proof: Sequence[bytes]
) -> None:
    """Check that the tree (old_size, old_root) is a prefix of (new_size, new_root) (RFC 9162, section 2.1.4.2).

    An old tree without leaves is refused: nothing can be shown about it. Raises ProofInvalid.
    """
    if not 0 < old_size <= new_size:
        raise ProofInvalid(f"a tree of {new_size} leaves cannot be shown to extend one of {old_size}")
    if old_size == new_size:
        if proof or old_root != new_root:
            raise ProofInvalid("two trees of one size have different roots, or a proof where none is due")
        return
    _require_hashes(proof)
    if not proof:
        raise ProofInvalid("the proof is empty")
    path = [old_root, *proof] if old_size & (old_size - 1) == 0 else list(proof)
    old_found, new_found = _climb(old_size - 1, new_size - 1, path)
    if old_found != old_root:
        raise ProofInvalid(f"the proof does not lead to the root of the tree of {old_size}")
    if new_found != new_root:
        raise ProofInvalid(f"the proof does not lead to the root of the tree of {new_size}")


def _climb(node: int, last: int, path: Sequence[bytes]) -> tuple[bytes, bytes]:
    """The roots of the old and of the new tree that a consistency path leads to."""
    while node & 1:
        node, last = node >> 1, last >> 1
    old = new = path[0]
    for digest in path[1:]:
        if last == 0:
            raise ProofInvalid("the proof is too long")
        if node & 1 or node == last:
            old, new = node_hash(digest, old), node_hash(digest, new)
            while not node & 1 and node:
                node, last = node >> 1, last >> 1
        else:
            new = node_hash(new, digest)
        node, last = node >> 1, last >> 1
    if last:
        raise ProofInvalid("the proof is too short")
    return old, new
