"""Made-up vendors: honest ones of several habits, and attackers. Each yields the runs of its submissions in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from governance.detection.behaviour import Runs
from governance.detection.synthetic.bank import Bank
from governance.detection.synthetic.harness import Harness, Override
from governance.detection.tasks import Mask


@dataclass(frozen=True)
class Plan:
    """What a vendor is given: a bank, a source of chance, how many submissions, how many runs of each task."""

    bank: Bank
    rng: np.random.Generator
    submissions: int
    runs: int

    def harness(self, *, agreeing: float | None = None) -> Harness:
        """A harness like many."""
        rng = self.rng
        share = float(rng.choice((0.0, 0.2, 0.4, 0.7, 0.9, 0.95))) if agreeing is None else agreeing
        return Harness(
            self.bank,
            rng,
            ability=float(rng.normal(0, 0.9)),
            agreeing=share,
            noise=float(rng.choice((0.15, 0.25, 0.35, 0.6))),
            flaky=float(rng.choice((0.0, 0.01, 0.03, 0.12))),
            crash=float(rng.choice((0.0, 0.001, 0.006))),
        )

    def some(self, count: int) -> Mask:
        """So many random held-out tasks."""
        chosen = np.zeros(len(self.bank.table), dtype=bool)
        held_out = np.flatnonzero(self.bank.table.held_out)
        chosen[self.rng.choice(held_out, min(count, len(held_out)), replace=False)] = True
        return chosen

    def group(self) -> Mask:
        """One category, family set or operation of a category."""
        grouping = self.bank.table.groupings[int(self.rng.choice((1, 5)))]
        return np.asarray(grouping.codes == self.rng.integers(0, grouping.size))

    def none(self) -> Mask:
        return np.zeros(len(self.bank.table), dtype=bool)


Vendor = Callable[[Plan], Iterator[Runs]]


def improver(plan: Plan) -> Iterator[Runs]:
    """Edits that touch everything, and now and then a repair of one group."""
    harness = plan.harness()
    everything = np.ones(len(plan.bank.table), dtype=bool)
    for number in range(plan.submissions):
        if number and plan.rng.random() < 0.6:
            harness.redraw(everything, fresh=0.15, gain=float(plan.rng.normal(0.05, 0.05)))
        elif number:
            harness.redraw(plan.group(), fresh=0.6, spread=float(plan.rng.choice((0.05, 0.5))), gain=0.02)
        yield harness.runs(plan.runs)


def model_changer(plan: Plan) -> Iterator[Runs]:
    """Another base model each time."""
    harness = plan.harness()
    everything = np.ones(len(plan.bank.table), dtype=bool)
    for number in range(plan.submissions):
        if number:
            harness.redraw(everything, fresh=0.7, spread=0.45, gain=float(plan.rng.normal(0.1, 0.3)))
        yield harness.runs(plan.runs)


def rebuilder(plan: Plan) -> Iterator[Runs]:
    """The same harness again and again, with what rebuilding shakes."""
    harness = plan.harness()
    for _ in range(plan.submissions):
        yield harness.runs(plan.runs)


def crash_fixer(plan: Plan) -> Iterator[Runs]:
    """Groups and ends of the order that crash, then do not, then others do."""
    harness = plan.harness()
    order = np.array([task.order for task in plan.bank.table.tasks])
    for _ in range(plan.submissions):
        harness.broken = plan.none()
        if plan.rng.random() < 0.5:
            harness.broken = plan.group() | plan.group()
        elif plan.rng.random() < 0.3:
            harness.broken = order > plan.rng.uniform(0.3, 0.9) * len(order)
        yield harness.runs(plan.runs)


def rule_script(plan: Plan) -> Iterator[Runs]:
    """No model at all; rules for one group after the other."""
    harness = plan.harness(agreeing=0.99)
    harness.rule_based = True
    for number in range(plan.submissions):
        if number:
            harness.redraw(plan.group() & (plan.rng.random(len(plan.bank.table)) < 0.5), fresh=0.4)
        yield harness.runs(plan.runs)


def public_fitter(plan: Plan) -> Iterator[Runs]:
    """Learns the public tasks by heart; honest towards the others."""
    harness = plan.harness()
    public = plan.bank.table.public
    everything = np.ones(len(public), dtype=bool)
    for number in range(plan.submissions):
        if number:
            harness.redraw(everything, fresh=0.1)
            known = public & (plan.rng.random(len(public)) < 0.35)
            harness.chance = np.where(known, 0.99, harness.chance)
            harness.success |= known
        yield harness.runs(plan.runs)


def _gated(plan: Plan, sets: Iterator[Mask]) -> Iterator[Runs]:
    """Fails on chosen tasks: refuses cheaply, answers by template, or spoils a finished answer."""
    harness = plan.harness(agreeing=float(plan.rng.choice((0.1, 0.95))))
    way = plan.rng.choice(("cheap", "template", "spoilt"))
    price = float(plan.rng.uniform(0.02, 0.4)) if way == "cheap" else None
    for number in range(plan.submissions):
        chosen = next(sets) if number else plan.none()
        template = chosen if way == "template" else plan.none()
        fail = plan.none() if way == "template" else chosen
        yield harness.runs(plan.runs, Override(fail, plan.none(), template, price=price))


def single_task(plan: Plan) -> Iterator[Runs]:
    """A few tasks, others each time."""

    def sets() -> Iterator[Mask]:
        while True:
            yield plan.some(int(plan.rng.integers(3, 9)))

    return _gated(plan, sets())


def block(plan: Plan) -> Iterator[Runs]:
    """A block of one domain each time."""
    size = int(plan.rng.integers(15, 41))

    def sets() -> Iterator[Mask]:
        while True:
            inside = np.flatnonzero(
                (plan.bank.table.domains == plan.rng.integers(0, 4)) & plan.bank.table.held_out
            )
            chosen = plan.none()
            chosen[plan.rng.choice(inside, min(size, len(inside)), replace=False)] = True
            yield chosen

    return _gated(plan, sets())


def binary_search(plan: Plan) -> Iterator[Runs]:
    """Halves of a set until one is left, then another set."""

    def sets() -> Iterator[Mask]:
        while True:
            chosen = plan.some(int(plan.rng.choice((16, 32, 64))))
            while chosen.sum() > 1:
                yield chosen
                chosen = chosen & (plan.rng.random(len(chosen)) < 0.5)

    return _gated(plan, sets())


def slow_drip(plan: Plan) -> Iterator[Runs]:
    """A handful of spoilt answers hidden under edits that touch everything."""
    harness = plan.harness(agreeing=float(plan.rng.choice((0.1, 0.95))))
    everything = np.ones(len(plan.bank.table), dtype=bool)
    for number in range(plan.submissions):
        if number:
            harness.redraw(everything, fresh=0.12)
        fail = plan.some(int(plan.rng.integers(5, 12))) if number else plan.none()
        runs = harness.runs(plan.runs, Override(fail, plan.none(), plan.none(), credit=0.4))
        yield runs


def wacky_boosting(plan: Plan) -> Iterator[Runs]:
    """Two harnesses, and for each task the choice of one of them, drawn again in every submission."""
    share = float(plan.rng.choice((0.1, 0.95)))
    one, other = plan.harness(agreeing=share), plan.harness(agreeing=share)
    other.agree = one.agree
    for _ in range(plan.submissions):
        first, second = one.runs(plan.runs), other.runs(plan.runs)
        pick = (plan.rng.random(len(plan.bank.table)) < 0.5)[:, None]
        yield Runs(
            artefact=np.where(pick, first.artefact, second.artefact),
            tokens=np.where(pick, first.tokens, second.tokens),
            duration=np.where(pick, first.duration, second.duration),
            success=np.where(pick, first.success, second.success),
            score=np.where(pick, first.score, second.score),
            ok=np.where(pick, first.ok, second.ok),
        )


def abstainer(plan: Plan) -> Iterator[Runs]:
    """A template for everything but a few tasks."""
    harness = plan.harness(agreeing=float(plan.rng.choice((0.5, 0.95))))
    for _ in range(plan.submissions):
        asked = plan.some(int(plan.rng.integers(12, 40)))
        yield harness.runs(plan.runs, Override(plan.none(), plan.none(), ~asked))


def memoriser(plan: Plan) -> Iterator[Runs]:
    """Knows some tasks by heart from one submission on."""
    harness = plan.harness(agreeing=0.95)
    everything = np.ones(len(plan.bank.table), dtype=bool)
    known = plan.some(int(plan.rng.integers(15, 40)))
    begins = int(plan.rng.integers(1, max(2, plan.submissions)))
    price = float(plan.rng.choice((0.12, 0.3, 1.0)))
    for number in range(plan.submissions):
        if number:
            harness.redraw(everything, fresh=0.12)
        solve = known if number >= begins else plan.none()
        yield harness.runs(plan.runs, Override(plan.none(), solve, plan.none(), price=price))


HONEST: dict[str, Vendor] = {
    "improver": improver,
    "model_changer": model_changer,
    "rebuilder": rebuilder,
    "crash_fixer": crash_fixer,
    "rule_script": rule_script,
    "public_fitter": public_fitter,
}
ATTACKERS: dict[str, Vendor] = {
    "single_task": single_task,
    "block": block,
    "binary_search": binary_search,
    "slow_drip": slow_drip,
    "wacky_boosting": wacky_boosting,
    "abstainer": abstainer,
    "memoriser": memoriser,
}
