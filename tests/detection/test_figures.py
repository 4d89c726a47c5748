"""The detectors' figures by hand-computed values, without tolerance where a double holds the value."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from governance.detection import statistics
from governance.detection.channels import gain, gap, timing
from governance.detection.explanation import explain, union_f1
from governance.detection.exposure import Exposure, shares
from governance.detection.tasks import Task, TaskTable
from tests.detection.making import START, WEEK, rows, table


@pytest.mark.acceptance("governance:2")
def test_poisson_tails() -> None:
    assert statistics.poisson_tail(0, 2.0) == 1.0
    # P(N ≥ 1) = 1 − e^−2; P(N ≥ 3) = 1 − e^−2·(1 + 2 + 2)
    assert statistics.poisson_tail(1, 2.0) == pytest.approx(1 - math.exp(-2), rel=1e-15)
    assert statistics.poisson_tail(3, 2.0) == pytest.approx(1 - 5 * math.exp(-2), rel=1e-14)
    assert statistics.poisson_tail(5_000, 0.1) == statistics.SMALLEST_P


@pytest.mark.acceptance("governance:2")
def test_binomial_and_hypergeometric_tails() -> None:
    # At least 2 heads of 3: 4 of 8.
    assert statistics.binomial_tail(2, 3, 0.5) == pytest.approx(0.5, rel=1e-15)
    # Both of 2 drawn among 2 marked of 4: 1 of 6; at least one: 5 of 6.
    found = statistics.hypergeometric_tail([2, 1], 2, [2, 2], 4)
    assert found == pytest.approx([1 / 6, 5 / 6], rel=1e-12)


@pytest.mark.acceptance("governance:2")
def test_beta_binomial_tails() -> None:
    def exact(solved: int, seen: int, runs: int) -> Fraction:
        a, b = Fraction(solved) + Fraction(1, 2), Fraction(seen - solved) + Fraction(1, 2)
        value = Fraction(1)
        for step in range(runs):
            value *= (b + step) / (a + b + step)
        return value

    # Six of six solved, none of three more: ½·3/2·5/2 over 7·8·9 = 15/4032.
    assert exact(6, 6, 3) == Fraction(15, 4032)
    found = statistics.all_fail([6, 0, 3], [6, 6, 6], 3, (0.5, 0.5))
    assert found == pytest.approx([float(exact(k, 6, 3)) for k in (6, 0, 3)], rel=1e-15)
    assert statistics.all_fail([6], [6], 0, (0.5, 0.5)) == [1.0]


@pytest.mark.acceptance("governance:2")
def test_e_values() -> None:
    # ½·p^(−½): 5 at a hundredth, cut off at 30, and below 1 where nothing is surprising.
    assert statistics.e_value(0.01) == 5.0
    assert statistics.e_value(1.0) == 0.5
    assert statistics.e_value(1e-9) == 30.0


def test_the_calibrator_is_an_e_value() -> None:
    grid = (np.arange(1_000_000) + 0.5) / 1_000_000  # its mean under a uniform p is at most 1
    assert np.minimum(statistics.LARGEST_E, 0.5 * grid**-0.5).mean() <= 1.0


def test_adjustment_over_lineages() -> None:
    # Three lineages: the harmonic factor is 1 + 1/2 + 1/3 = 11/6.
    found = statistics.benjamini_yekutieli([0.001, 0.5, 0.04])
    assert found == pytest.approx([0.001 * 3 * 11 / 6, 0.5 * 11 / 6, 0.04 * 3 / 2 * 11 / 6], rel=1e-12)
    assert statistics.benjamini_yekutieli([]) == []


@pytest.mark.acceptance("governance:2")
def test_f1_of_unions() -> None:
    # Groups of 4, 6 and 10 with 4, 3 and 1 changed tasks of 8. The first alone: 2·4/(4+8); the first two: 2·7/(10+8).
    hits, sizes = np.array([4, 3, 1]), np.array([4, 6, 10])
    assert union_f1(hits, sizes, 8) == 14 / 18
    # Two changed tasks allow one group only, or two families of one task each would explain any pair.
    assert union_f1(np.array([1, 1]), np.array([1, 1]), 2) == 2 / 3


@pytest.mark.acceptance("governance:2")
def test_known_changed_sets_are_explained_or_not() -> None:
    bank = table(400)
    everything = np.ones(400, dtype=bool)
    category = np.array([task.domain == "finance" and task.category == "2" for task in bank.tasks])
    found = explain(category, everything, bank)
    assert (found.score, found.by, found.explained) == (1.0, "category", True)
    assert not found.left.any()
    first = np.array([task.order < 100 for task in bank.tasks])
    assert explain(first, everything, bank).by == "order"
    chance = np.zeros(400, dtype=bool)
    chance[np.random.default_rng(3).choice(400, 12, replace=False)] = True
    scattered = explain(chance, everything, bank)
    assert not scattered.explained
    assert (scattered.left == chance).all()
    both = explain(category | chance, everything, bank)
    assert (both.left == chance & ~category).all()


@pytest.mark.acceptance("governance:2")
def test_bits_of_known_changed_sets() -> None:
    domains = np.array([0] * 10 + [1] * 10)
    changed = np.zeros(20, dtype=bool)
    changed[:9] = True  # nine of the first domain
    changed[10:13] = True  # three of the second
    found = shares(changed, domains)
    assert list(found[:10]) == [6.66 / 9] * 9 + [0.0]
    assert list(found[10:]) == [1.0] * 3 + [0.0] * 7


@pytest.mark.acceptance("governance:2")
def test_the_score_of_the_queue() -> None:
    bank = table(40)
    exposure = Exposure(bank)
    one = np.zeros(40, dtype=bool)
    one[0] = True
    whole = np.ones(40, dtype=bool)
    exposure.release("a", whole, np.zeros(40, dtype=bool))  # 10 tasks in each of four domains: 0.666 each
    exposure.release("a", one, one)  # one bit, gate-like
    exposure.remember("b", one)
    exposure.suspect("b", whole)
    assert exposure.every[0] == 0.666 + 1.0
    assert exposure.every[1] == 0.666
    quiet, loud = exposure.score(set()), exposure.score({"a"})
    assert quiet[0] == pytest.approx(0.25 * 0.666 + 1.0, rel=1e-15)
    assert loud[0] == pytest.approx(0.25 * 0.666 + 4.0, rel=1e-15)
    assert quiet[1] == loud[1] == 0.25 * 0.666
    joined = exposure.score({"b"})  # 0.666 bits of suspicion, of which half counts
    assert joined[0] == pytest.approx(0.25 * 0.666 + 1.0 + 3.0 + 0.333, rel=1e-15)


def test_the_gain_in_errors() -> None:
    before, after = rows(4, successes=[0, 0, 0, 3]), rows(4, successes=[3, 0, 3, 3])
    # Differences 1, 0, 1, 0: mean ½, sample deviation √(1/3), error √(1/3)/2.
    assert gain.z(before, after) == pytest.approx(0.5 / (math.sqrt(1 / 3) / 2), rel=1e-12)
    assert gain.z(before, before) == 0.0


def test_the_gap_to_matched_neighbours() -> None:
    tasks = [Task(f"h{n}", "general", "1", "query", n % 2, n, n, False) for n in range(20)]
    tasks += [Task(f"p{n}", "general", "1", "query", n, n, n, True) for n in range(2)]
    matched = gap.Matched(TaskTable(tasks))
    solved = [3 * (n % 2) for n in range(20)] + [3, 3]  # every odd tier solved, every even one failed
    assert list(matched.differences(rows(22, successes=solved))) == pytest.approx([1.0, 0.0])
    assert gap.z(np.array([0.2, 0.4]), np.zeros(2)) == pytest.approx((0.3, 3.0))


def test_prompt_submissions() -> None:
    prompt = [START, START + WEEK, START + 2 * WEEK + WEEK / 14]
    assert timing.tail(prompt, WEEK) == pytest.approx(1 / 16)
    assert timing.tail([START, START + 3 * WEEK], WEEK) == 1.0
    assert timing.tail([START], WEEK) == 1.0
