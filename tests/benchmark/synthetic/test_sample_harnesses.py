"""What the sample harnesses earn: scripts something in every domain, chance next to nothing."""

from __future__ import annotations

import ast
import sys
from decimal import Decimal
from pathlib import Path

import pytest

from benchmark.synthetic import Summary, generate
from benchmark.synthetic.allocate import DOMAINS
from tests.benchmark.synthetic.banks import task_dirs
from tests.benchmark.synthetic.solve import HARNESSES, by_domain, run, unsolved


def test_scripts_earn_their_share_in_every_domain_of_a_mini_bank(mini: Summary):
    shares = by_domain("rule-script", task_dirs(mini))
    assert set(shares) == set(DOMAINS)
    assert all(Decimal("0.3") <= share <= Decimal("0.8") for share in shares.values()), shares


def test_every_task_of_a_mini_bank_can_be_solved_from_its_workspace(mini: Summary):
    assert unsolved("reference", task_dirs(mini)) == {}


@pytest.mark.slow
def test_every_task_of_a_full_bank_can_be_solved_from_its_workspace(full: Summary):
    assert unsolved("reference", task_dirs(full)) == {}


def test_chance_earns_next_to_nothing_in_a_mini_bank(mini: Summary):
    shares = by_domain("random", task_dirs(mini))
    assert all(share < Decimal("0.03") for share in shares.values()), shares


@pytest.mark.slow
def test_chance_earns_next_to_nothing_in_a_full_bank(full: Summary):
    shares = by_domain("random", task_dirs(full), seed=5)
    assert all(share < Decimal("0.03") for share in shares.values()), shares


@pytest.mark.slow
def test_scripts_earn_the_same_on_another_seed(tmp_path: Path, full: Summary):
    other = generate(tmp_path / "other", version="2026.1", seed=99, size="full")
    one, two = by_domain("rule-script", task_dirs(full)), by_domain("rule-script", task_dirs(other))
    for domain in DOMAINS:
        assert Decimal("0.3") <= one[domain] <= Decimal("0.8")
        assert abs(one[domain] - two[domain]) <= Decimal("0.05"), (domain, one, two)


@pytest.mark.parametrize("harness", ["rule-script", "random", "reference"])
def test_a_harness_uses_the_standard_library_only(harness: str):
    own = {path.stem for name in (harness, "rule-script") for path in (HARNESSES / name).glob("*.py")}
    for path in (HARNESSES / harness).glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert all(n.split(".")[0] in sys.stdlib_module_names | own for n in names), path


@pytest.mark.parametrize("harness", ["rule-script", "random"])
def test_a_run_depends_on_its_seed_only(harness: str, mini: Summary):
    task_dir = task_dirs(mini)[0]
    assert run(harness, task_dir, seed=4) == run(harness, task_dir, seed=4)
