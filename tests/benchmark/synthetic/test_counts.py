"""How many tasks there are, of which kinds, and how the public ones are drawn."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from benchmark.synthetic import Summary, generate
from benchmark.synthetic.allocate import DOMAINS
from benchmark.synthetic.families.catalogue import FAMILIES
from benchmark.taskdir import read_task, read_taskset
from benchmark.taskdir.schema import GENERAL_CATEGORIES
from tests.benchmark.synthetic.banks import task_dirs


def _strata(bank: Summary) -> dict[str, Counter]:
    groups = {entry.id: entry.group for entry in read_taskset(bank.out).tasks}
    found: dict[str, Counter] = {}
    for task_dir in task_dirs(bank):
        meta = read_task(task_dir).meta
        key = (meta.domain, meta.category, meta.operation, meta.difficulty)
        found.setdefault(groups[meta.id], Counter())[key] += 1
    return found


def _public_by_domain(strata: dict[str, Counter]) -> dict[str, int]:
    found: Counter = Counter()
    for (domain, *_), count in strata["public"].items():
        found[domain] += count
    return dict(found)


def test_a_mini_bank_has_the_prescribed_counts(mini: Summary):
    assert mini.domains == {"general": 50, "finance": 30, "supply_chain": 30, "manufacturing": 30}
    assert mini.groups == {"held_out": 130, "public": 10}
    assert _public_by_domain(_strata(mini)) == {
        "general": 4, "finance": 2, "supply_chain": 2, "manufacturing": 2,
    }  # fmt: skip


@pytest.mark.slow
def test_a_full_bank_has_the_counts_of_the_white_paper(full: Summary):
    assert full.domains == {"general": 500, "finance": 300, "supply_chain": 300, "manufacturing": 300}
    assert full.groups == {"held_out": 1335, "public": 65}
    strata = _strata(full)
    assert _public_by_domain(strata) == {
        "general": 23, "finance": 14, "supply_chain": 14, "manufacturing": 14,
    }  # fmt: skip
    assert set(strata["public"]) <= set(strata["held_out"])


def test_every_public_stratum_is_also_held_out(mini: Summary):
    strata = _strata(mini)
    assert set(strata["public"]) <= set(strata["held_out"])


def test_families_are_enough_and_all_in_a_mini_bank(mini: Summary):
    bank = [f for f in FAMILIES.values() if f.split == "bank"]
    assert set(mini.families) == {f.key for f in bank}
    assert len(bank) >= 28
    assert {f.category for f in bank if f.domain == "general"} == GENERAL_CATEGORIES
    for domain in DOMAINS[1:]:
        assert sum(f.domain == domain for f in bank) >= 6


def test_practice_families_are_in_no_other_group(mini: Summary, practice: Summary):
    assert not set(practice.families) & set(mini.families)
    assert set(practice.domains) == set(DOMAINS)
    assert practice.groups == {"dev": practice.tasks}


def test_the_mix_of_a_mini_bank(mini: Summary):
    _check_mix(mini)


@pytest.mark.slow
def test_the_mix_of_a_full_bank(full: Summary):
    _check_mix(full)


def _check_mix(bank: Summary) -> None:
    tasks = [read_task(task_dir) for task_dir in task_dirs(bank)]
    assert 0 < bank.xlsx <= 0.3 * bank.tasks
    assert bank.multi_turn >= 0.05 * bank.tasks
    assert bank.size_bytes < 40 * 2**20
    assert {t.meta.difficulty for t in tasks} == {"basic", "intermediate", "hard"}
    assert all(20 <= t.meta.budget.seconds <= 60 for t in tasks)
    for domain in DOMAINS:
        operations = Counter(t.meta.operation for t in tasks if t.meta.domain == domain)
        assert max(operations.values()) <= 0.5 * operations.total()
    modes = Counter(t.ruleset.mode.value for t in tasks)
    assert modes["itemised"] > modes["all_or_nothing"] > 0
    assert sum(bool(t.ruleset.fatal) for t in tasks) > 0.08 * len(tasks)


def test_reserve_tasks_come_on_top_and_change_nothing(tmp_path: Path, mini: Summary):
    more = generate(tmp_path / "more", version="2026.1", seed=20261101, size="mini", reserve=7)
    assert more.groups == {**mini.groups, "reserve": 7}
    before = {e.id: (e.group, e.digest) for e in read_taskset(mini.out).tasks}
    after = {e.id: (e.group, e.digest) for e in read_taskset(more.out).tasks}
    assert before.items() <= after.items()


def test_the_bank_says_that_it_is_synthetic(mini: Summary):
    assert read_taskset(mini.out).synthetic
    readme = (mini.out / "README.md").read_text(encoding="utf-8")
    assert "SYNTHETIC" in readme
    assert "合成数据" in readme


def test_nothing_is_written_over_a_folder_in_use(mini: Summary):
    with pytest.raises(FileExistsError):
        generate(mini.out, version="2026.1", seed=1, size="mini")
