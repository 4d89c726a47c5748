"""A hundred tasks of the generated bank leave; matched replacements pass every check, random ones fail.

`recorded.json` holds what the fixed harnesses of tests/harnesses scored, by the real grader, on those hundred tasks
and on a reserve of 420: bank `r1`, seed 7. The third run is kept from the profile; the anchors are judged by it.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest

from benchmark.profiling import checks, matching
from benchmark.profiling.matching import Pair
from benchmark.profiling.profile import Profile
from governance.rotation import trials

pytestmark = pytest.mark.acceptance("governance:7")
PROFILED_RUNS = 2
ANCHORS = ("rule-script", "rule-script@12", "rule-script@30")
HARNESSES = Path(__file__).parents[2] / "harnesses"


@cache
def record() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((Path(__file__).parent / "recorded.json").read_text())
    return found


def tasks(group: str) -> list[Profile]:
    labels = ("key", "domain", "category", "operation", "tier", "turns", "seconds")
    return [
        Profile(
            **{name: row[name] for name in labels},
            scores={
                name: sum(runs[:PROFILED_RUNS]) / PROFILED_RUNS / 1000 for name, runs in row["scores"].items()
            },
        )
        for row in record()["rows"]
        if row["group"] == group
    ]


def judged(pairs: list[Pair]) -> checks.Verdict:
    """With the largest move of any anchor in each domain, by runs that the profile has not seen."""
    moved = dict.fromkeys(record()["sizes"], 0.0)
    for anchor in ANCHORS:
        scores = {row["key"]: row["scores"][anchor][PROFILED_RUNS] / 1000 for row in record()["rows"]}
        for domain, points in checks.shift(pairs, scores, record()["sizes"]).items():
            moved[domain] = max(moved[domain], points, key=abs)
    return checks.judge(pairs, moved)


def at_random(seed: int) -> list[Pair]:
    rng, leaving, reserve = Random(seed), tasks("leaving"), tasks("reserve")
    pairs = []
    for domain in sorted({task.domain for task in leaving}):
        own = [task for task in leaving if task.domain == domain]
        chosen = rng.sample([task for task in reserve if task.domain == domain], len(own))
        pairs += [Pair(one, other, 0.0) for one, other in zip(own, chosen, strict=True)]
    return pairs


def test_matched_replacements_pass_every_check() -> None:
    leaving, reserve = tasks("leaving"), tasks("reserve")
    assert (len(leaving), len(reserve)) == (100, 420)
    pairs = matching.match(leaving, reserve)
    found = judged(pairs)
    assert max(map(abs, found.differences.values())) < 0.1
    assert found.telling.low <= 0.5 <= found.telling.high
    assert max(map(abs, found.shifts.values())) < 0.6
    assert found.accepted


@pytest.mark.parametrize("seed", range(10))
def test_random_replacements_fail(seed: int) -> None:
    found = judged(at_random(seed))
    assert any(name.startswith("smd:") for name in found.failed)
    assert any(name.startswith("shift:") for name in found.failed)


def test_the_record_is_of_the_harnesses_that_are_there() -> None:
    for name, digest in record()["baselines"].items():
        assert trials.digest_of(trials.parsed(str(HARNESSES / name))) == digest
