"""The tree against the public vectors and against the example of RFC 6962."""

from __future__ import annotations

import base64
import json
from functools import partial
from pathlib import Path

import pytest

from audit.merkle import tree

VECTORS = Path(__file__).parent / "vectors"


def _vectors(name):
    lines = (VECTORS / f"{name}.jsonl").read_text().splitlines()
    return [pytest.param(case, id=case["name"]) for case in map(json.loads, lines)]


def _hashes(values):
    return [base64.b64decode(value) for value in values or []]


def _refuses(check):
    try:
        check()
    except tree.ProofInvalid:
        return True
    return False


@pytest.mark.acceptance("log:1")
@pytest.mark.parametrize("case", _vectors("inclusion"))
def test_inclusion(case):
    leaf, root = _hashes([case["leafHash"], case["root"]])
    check = partial(
        tree.verify_inclusion, leaf, case["leafIdx"], case["treeSize"], _hashes(case["proof"]), root
    )
    assert _refuses(check) == case["wantErr"]


@pytest.mark.acceptance("log:1")
@pytest.mark.parametrize("case", _vectors("consistency"))
def test_consistency(case):
    old, new = _hashes([case["root1"], case["root2"]])
    check = partial(tree.verify_consistency, case["size1"], old, case["size2"], new, _hashes(case["proof"]))
    assert _refuses(check) == case["wantErr"]


@pytest.mark.acceptance("log:1")
def test_number_of_vectors():
    assert (len(_vectors("inclusion")), len(_vectors("consistency"))) == (98, 98)


class TestTreeOfRfc6962:
    """Section 2.1.3: seven leaves d0 to d6, inner nodes named as there."""

    LEAVES = tuple(tree.leaf_hash(f"d{number}".encode()) for number in range(7))
    A, B, C, D, E, F, J = LEAVES
    G, H, I = tree.node_hash(A, B), tree.node_hash(C, D), tree.node_hash(E, F)  # noqa: E741
    K, L = tree.node_hash(G, H), tree.node_hash(I, J)

    def subtree(self, level, index):
        rows = [self.LEAVES, [self.G, self.H, self.I], [self.K]]
        return rows[level][index]

    @pytest.mark.acceptance("log:1")
    def test_root(self):
        assert tree.root(self.LEAVES) == tree.node_hash(self.K, self.L)

    @pytest.mark.acceptance("log:1")
    @pytest.mark.parametrize(("index", "path"), [(0, "BHL"), (3, "CGL"), (4, "FJK"), (6, "IK")])
    def test_paths(self, index, path):
        expected = [getattr(self, name) for name in path]
        assert tree.inclusion_proof(index, 7, self.subtree) == expected

    @pytest.mark.acceptance("log:1")
    @pytest.mark.parametrize(("old", "path"), [(3, "CDGL"), (4, "L"), (6, "IJK"), (7, "")])
    def test_consistency(self, old, path):
        expected = [getattr(self, name) for name in path]
        assert tree.consistency_proof(old, 7, self.subtree) == expected
