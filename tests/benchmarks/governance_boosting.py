"""Wacky boosting against the release rules: what a vendor gains by submitting mixtures and keeping what scored well.

The attacker has two deterministic harnesses and routes each of a domain's tasks to one of them. It plays the
strongest of three ways known to us; the figures are points of the domain that are won on this set of tasks and would
not be on another.
"""

from __future__ import annotations

from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

from governance.disclosure import ladder
from scoring import grid
from tests.benchmarks.registry import Bar, bars

TASKS = 286
REPEATS = 200
QUOTAS = (3, 10, 100)
SEED = 20261130
Mask = NDArray[np.bool_]


class World:
    """Two answers per task, right or wrong at even odds, in one of two harnesses; a routing takes one of each pair."""

    def __init__(self, dice: np.random.Generator) -> None:
        self.one, self.other = dice.random(TASKS) < 0.5, dice.random(TASKS) < 0.5

    def outcomes(self, routing: Mask) -> Mask:
        return np.where(routing, self.one, self.other)

    def score(self, routing: Mask) -> float:
        """In points; the mean of all routings is what the attacker is really worth."""
        return float(100 * self.outcomes(routing).mean())

    @property
    def worth(self) -> float:
        return float(50 * (self.one.mean() + self.other.mean()))


class Site:
    """Answers under one rule, and remembers what was asked."""

    def __init__(self, world: World, *, rule: str) -> None:
        self.world, self.rule, self.asked = world, rule, 0
        self.best: tuple[Mask, int] | None = None

    def ask(self, routing: Mask) -> float | None:
        """What is shown of this submission: the exact score, its value on the grid, or nothing."""
        self.asked += 1
        score = self.world.score(routing)
        if self.rule == "raw":
            return score
        value = grid.half_up(Decimal(repr(score)))
        if self.rule == "grid":
            return float(value)
        outcomes = self.world.outcomes(routing)
        if self.best is not None and not self._beats(outcomes, value):
            return None
        self.best = outcomes, value
        return float(value)

    def _beats(self, outcomes: Mask, value: int) -> bool:
        assert self.best is not None
        before, best = self.best
        differences = outcomes.astype(float) - before.astype(float)
        error = 100 * float(differences.std(ddof=1)) / TASKS**0.5
        return ladder.is_shown(value, best, answers=self.asked, paired_error=error)


def weigh(site: Site, quota: int, dice: np.random.Generator) -> Mask:
    """Independent routings; each task goes where its routings scored above their mean. Silence counts as below it."""
    routings = dice.random((quota, TASKS)) < 0.5
    shown = [site.ask(routing) for routing in routings]
    known = [value for value in shown if value is not None]
    least = min(known) - 1
    values = np.array([least if value is None else value for value in shown])
    votes = (values - values.mean()) @ (2.0 * routings - 1)
    return np.where(votes == 0, routings[int(values.argmax())], votes > 0)


def vote(site: Site, quota: int, dice: np.random.Generator) -> Mask:
    """The majority of the routings that scored better than the first, as the attack was published."""
    routings = dice.random((quota, TASKS)) < 0.5
    shown = [site.ask(routing) for routing in routings]
    first = shown[0] or 0.0
    better = routings[[value is not None and value >= first for value in shown]]
    share = better.mean(axis=0)
    return np.where(share == 0.5, better[-1], share > 0.5)


def climb(site: Site, quota: int, dice: np.random.Generator) -> Mask:
    """From the best so far to one that differs on an eighth of the tasks, kept where it is shown to be better."""
    best = dice.random(TASKS) < 0.5
    value = site.ask(best) or 0.0
    for _ in range(quota - 1):
        tried = best ^ (dice.random(TASKS) < 0.125)
        shown = site.ask(tried)
        if shown is not None and shown > value:
            best, value = tried, shown
    return best


def gain(rule: str, quota: int) -> float:
    """Mean points won by the best of the attacks."""
    found = []
    for attack in (weigh, vote, climb):
        dice = np.random.default_rng(SEED)
        won = []
        for _ in range(REPEATS):
            world = World(dice)
            won.append(world.score(attack(Site(world, rule=rule), quota, dice)) - world.worth)
        found.append(float(np.mean(won)))
    return max(found)


@bars.measure("governance:5")
def boosting() -> list[Bar]:
    """Raw scores give the set away at 100 submissions; the growing ladder does not, at any quota."""
    raw, growing = ({quota: gain(rule, quota) for quota in QUOTAS} for rule in ("raw", "growing-ladder"))
    return [
        Bar("raw_at_100", figure=raw[100], at_least=8, unit=" points"),
        Bar("growing_ladder_at_100", figure=growing[100], at_most=2, unit=" points"),
        *(
            Bar(f"raw_over_growing_at_{quota}", figure=raw[quota] - growing[quota], at_least=0.1)
            for quota in (10, 100)
        ),
        Bar("growing_ladder_at_3", figure=growing[3], at_most=2, unit=" points"),
    ]
