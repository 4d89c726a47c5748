"""Made-up worlds that the detectors have not seen: power by kind and false alarms, with other seeds, sizes and runs."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import pytest

from governance.detection import levels, report
from governance.detection.analysis import Analysis
from governance.detection.synthetic.vendors import ATTACKERS, HONEST
from governance.detection.synthetic.worlds import World, world

pytestmark = pytest.mark.xdist_group("made-up worlds")  # one set of worlds serves all tests

SHORTEST = 3
"""Campaigns of fewer submissions leave nothing to compare."""


@dataclass
class Tally:
    """Accounts by kind: how many there were, how many were flagged, and at which submission of theirs."""

    seen: Counter[str] = field(default_factory=Counter)
    flagged: Counter[str] = field(default_factory=Counter)
    first: dict[str, list[int]] = field(default_factory=dict)

    def add(self, made: World) -> Analysis:
        """Run one world."""
        analysis = Analysis(made.table, levels.read())
        for submission in made.submissions:
            analysis.observe(submission)
        first = report.make(analysis)["first_alarm"]
        for account, kind in made.kinds.items():
            line = analysis.lines[account]
            if kind in HONEST or len(line.places) >= SHORTEST:
                self.seen[kind] += 1
                self.flagged[kind] += account in first
            if account in first:
                self.first.setdefault(kind, []).append(line.submissions.index(first[account]) + 1)
        return analysis

    def share(self, *kinds: str) -> float:
        """Flagged of all of these kinds."""
        return sum(self.flagged[kind] for kind in kinds) / sum(self.seen[kind] for kind in kinds)


def tally(seeds: range, *, honest: int, attackers: int, runs: int = 3, scale: float = 1.0) -> Tally:
    found = Tally()
    for seed in seeds:
        found.add(world(seed, honest=honest, attackers=attackers, runs=runs, scale=scale))
    return found


@pytest.fixture(scope="module")
def usual() -> Tally:
    return tally(range(900, 916), honest=42, attackers=14)


@pytest.mark.acceptance("governance:1")
@pytest.mark.parametrize(
    ("kind", "least"),
    [
        (
            "single_task",
            0.80,
        ),  # a third of these spoil a few tasks of a sampling harness: the hardest there is
        ("block", 0.85),
        ("binary_search", 0.85),
        ("wacky_boosting", 0.95),
        ("abstainer", 0.95),
        ("memoriser", 0.55),
        ("slow_drip", 0.40),
    ],
)
def test_campaigns_are_caught(kind: str, least: float, usual: Tally) -> None:
    assert usual.seen[kind] >= 20
    assert usual.share(kind) >= least, (usual.seen[kind], usual.flagged[kind])


@pytest.mark.acceptance("governance:1")
def test_honest_accounts_are_left_alone(usual: Tally) -> None:
    assert sum(usual.seen[kind] for kind in HONEST) >= 600
    assert usual.share(*HONEST) <= 0.005, usual.flagged
    assert usual.flagged["rebuilder"] <= 1


@pytest.mark.acceptance("governance:1")
def test_alarms_come_early(usual: Tally) -> None:
    positions = sorted(place for kind in ATTACKERS for place in usual.first.get(kind, []))
    assert positions[len(positions) // 2] <= 3
    assert set(usual.first["abstainer"]) == {1}


@pytest.mark.parametrize(("runs", "scale"), [(1, 1.0), (2, 1.0), (5, 1.0), (3, 0.3)])
def test_other_runs_and_smaller_banks(runs: int, scale: float) -> None:
    found = tally(range(950, 954), honest=42, attackers=7, runs=runs, scale=scale)
    assert sum(found.flagged[kind] for kind in HONEST) <= 1, found.flagged
    assert found.share("abstainer", "wacky_boosting", "binary_search", "block") >= 0.7
