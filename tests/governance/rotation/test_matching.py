"""Matching and its checks by properties: pure, no database."""

from __future__ import annotations

from itertools import permutations
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmark.profiling import checks, matching
from benchmark.profiling.matching import Pair, TooFew
from benchmark.profiling.profile import Profile
from governance.rotation import drawing, drift, policies
from governance.rotation.policies import Origin


def task(
    key: str, score: float, *, domain: str = "finance", category: str = "ledger", tier: int = 1
) -> Profile:
    return Profile(key, domain, category, "query", tier, 1, 30, {"one": score, "two": score / 2})


def many(name: str, count: int, seed: int = 1, **facts: str) -> list[Profile]:
    rng = Random(seed)
    return [task(f"{name}{n:03d}", rng.random(), tier=rng.randint(1, 3), **facts) for n in range(count)]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=4), st.randoms())
def test_the_assignment_is_the_nearest_of_all(scores: list[float], rng: Random) -> None:
    """Against every permutation; exchanges are off, as there is nothing free to exchange for."""
    leaving = [task(f"a{n}", score) for n, score in enumerate(scores)]
    reserve = [task(f"b{n}", rng.random()) for n in range(len(scores))]
    distances = matching.distances_between(leaving, reserve)
    best = min(
        sum(distances[row, column] for row, column in enumerate(columns))
        for columns in permutations(range(len(reserve)))
    )
    pairs = matching.match(leaving, reserve)
    assert sum(pair.distance for pair in pairs) == pytest.approx(best, abs=1e-4)
    assert len({pair.coming.key for pair in pairs}) == len(pairs)


def test_domains_never_mix_and_order_does_not_matter() -> None:
    leaving = [*many("a", 5), *many("b", 5, domain="general")]
    reserve = [*many("c", 12, seed=2), *many("d", 12, seed=3, domain="general")]
    pairs = matching.match(leaving, reserve)
    assert all(pair.leaving.domain == pair.coming.domain for pair in pairs)
    Random(5).shuffle(reserve)
    assert matching.match(leaving[::-1], reserve) == pairs
    with pytest.raises(TooFew, match="finance"):
        matching.match(many("a", 13), reserve)


def test_a_task_of_the_same_category_is_preferred_to_a_nearer_one() -> None:
    leaving = [task("a", 0.5)]
    reserve = [task("near", 0.5, category="stock"), task("same", 0.6), task("far", 0.0)]
    assert matching.match(leaving, reserve)[0].coming.key == "same"


def test_differences_by_hand() -> None:
    leaving, coming = [task("a", 0.0), task("b", 1.0)], [task("c", 0.5), task("d", 1.0)]
    found = checks.differences(leaving, coming)
    pooled = np.sqrt((0.5 + 0.125) / 2)
    assert found["one"] == pytest.approx(0.25 / pooled)
    assert found["tier"] == 0
    assert found["finance/ledger"] == 0
    apart = checks.differences([task("a", 0.0)], [task("c", 1.0)])
    assert apart["one"] == np.inf


def test_the_classifier_tells_what_differs_and_not_what_does_not() -> None:
    leaving, alike = many("a", 60), many("b", 60, seed=2)
    assert checks.told_apart(leaving, alike).cannot
    harder = [task(f"c{n}", profile.scores["one"] * 0.5) for n, profile in enumerate(alike)]
    found = checks.told_apart(leaving, harder)
    assert (found.cannot, found.area > 0.6) == (False, True)
    assert checks.told_apart(leaving[:1], alike[:1]).cannot, "one pair tells nothing"


def test_a_spread_that_differs_is_told_apart_though_the_means_are_equal() -> None:
    middle = [task(f"a{n}", 0.5 + 0.001 * n) for n in range(60)]
    ends = [task(f"b{n}", float(n % 2)) for n in range(60)]
    assert not checks.told_apart(middle, ends).cannot


def test_a_shift_is_what_replaced_tasks_move() -> None:
    pairs = [Pair(task("a", 0), task("b", 0), 0.0), Pair(task("c", 0), task("d", 0), 0.0)]
    scores = {"a": 0.5, "b": 1.0, "c": 1.0, "d": 0.75}
    assert checks.shift(pairs, scores, {"finance": 50, "general": 9}) == {"finance": 0.5, "general": 0.0}


@given(st.integers(1, 500), st.integers(0, 200), st.integers(0, 500))
def test_no_more_than_fifteen_percent_leave(held_out: int, waiting: int, unexposed: int) -> None:
    found = policies.shares(held_out, waiting, unexposed)
    assert 0 <= found.total <= policies.MOST_SHARE * held_out
    assert found.queued <= waiting
    assert found.cover <= unexposed
    if found.queued and unexposed >= found.queued:
        assert found.cover >= policies.COVER_SHARE * found.queued


def test_shares_of_the_real_domains() -> None:
    assert policies.shares(286, 0, 286) == policies.Shares(9, 0, 0)
    assert policies.shares(286, 100, 200) == policies.Shares(9, 27, 6)
    assert policies.shares(477, 10, 400) == policies.Shares(15, 10, 2)


@settings(max_examples=30)
@given(st.integers(0, 2**20), st.integers(0, 20))
def test_who_leaves_depends_on_the_seed_and_not_on_the_order(seed: int, waiting: int) -> None:
    tasks = [*many("a", 100), *many("b", 80, domain="general")]
    queue = [profile.key for profile in tasks[:waiting]]
    unexposed = {profile.key for profile in tasks[40:]}
    found = drawing.leaving(tasks, queue, unexposed, seed=str(seed))
    assert found == drawing.leaving(tasks[::-1], queue, unexposed, seed=str(seed))
    assert all(key in unexposed for key, origin in found.items() if origin is Origin.COVER)
    assert [key for key, origin in found.items() if origin is Origin.QUEUE] == queue[: len(queue)][:10]


def test_the_planned_share_follows_the_strata() -> None:
    tasks = [task(f"a{n}", 0.5, tier=1 + (n >= 60) + (n >= 90)) for n in range(100)]
    chosen = drawing.stratified(tasks, 10, Random(4))
    tiers = [profile.tier for profile in tasks if profile.key in chosen]
    assert sorted(tiers) == [1] * 6 + [2] * 3 + [3]


def test_what_leaves_joins_the_public_group_where_it_is_like_it() -> None:
    leaving = [task(f"a{n}", n / 10) for n in range(10)]
    public = [task("p", 0.3)]
    found = drawing.fates(leaving, public, {"a3"})
    assert {key for key, fate in found.items() if fate == "public"} <= {"a2", "a4"}
    assert sum(fate == "public" for fate in found.values()) == 1
    saturated = drawing.fates([task("a", 1.0)], [], ())
    assert saturated == {"a": "regression"}


def test_a_leak_drifts_and_honest_vendors_do_not() -> None:
    rng = np.random.default_rng(3)
    ability, ease = rng.normal(0, 1, 40), rng.normal(0, 1.5, 300)
    chance = 1 / (1 + np.exp(-(ability[:, None] + ease[None])))
    passes = rng.binomial(3, chance) / 3
    domains = np.arange(300) % 4
    level = drift.level(300, 40)
    assert not (drift.drifted(passes, domains) > level).any()
    leaked = np.flatnonzero(ease < -1)[:20]
    passes[15:, leaked] = 1.0
    found = drift.drifted(passes, domains) > level
    assert found[leaked].mean() >= 0.8
    assert found.sum() == found[leaked].sum()


def test_stronger_vendors_are_no_drift() -> None:
    rng = np.random.default_rng(4)
    ability, ease = np.linspace(-2, 3, 40), rng.normal(0, 1.5, 300)
    passes = rng.binomial(3, 1 / (1 + np.exp(-(ability[:, None] + ease[None])))) / 3
    assert not (drift.drifted(passes, np.arange(300) % 4) > drift.level(300, 40)).any()


def test_the_chart_by_hand_and_missing_runs() -> None:
    """One task whose chance is one half: after the start each pass multiplies by 6/(1 − ½ + 3)."""
    assert drift._factor(np.array([1.0]), np.array([0.5]), 6.0)[0] == pytest.approx(6 / 3.5)
    assert drift.level(1335, 60) == pytest.approx(2 * 1335 * 52 / 0.5)
    passes = np.full((20, 4), np.nan)
    assert (drift.drifted(passes, np.zeros(4, dtype=np.int64)) == 1).all()


def test_causes_are_those_of_the_rules() -> None:
    def facts(**changes: float | bool) -> policies.Exposed:
        found: dict[str, float | bool] = {"every": 0, "gate": 0, "organisations": 0, "score": 0}
        return policies.Exposed(**(found | changes))  # type: ignore[arg-type]

    assert policies.causes(facts(every=2.99, gate=0.99, organisations=2)) == []
    assert policies.causes(facts(gate=1.0)) == ["gate_bits"]
    assert policies.causes(facts(every=3.0, organisations=3)) == ["all_bits", "content"]
    assert policies.causes(facts(drifted=True)) == ["drift"]
