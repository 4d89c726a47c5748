"""Random histories against the real database: states, instants, ledger and decisions stay consistent throughout."""

from __future__ import annotations

import random
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import pairwise

import pytest

from benchmark.models import TaskSetVersion
from config import clock
from submissions import queries, services
from submissions.models import Harness, Slot, Submission, SubmissionTransition
from submissions.policies.states import ENDS, MOVES
from submissions.problems import Refusal, Refused
from tests.submissions import world
from tests.submissions.outcomes import crash_canary, lose, public_results
from tests.submissions.world import Vendor

START = datetime(2026, 11, 30, tzinfo=UTC)


def refusal_of(act: Callable[[], object]) -> Refusal | None:
    """Why `act` was refused; None if it was done."""
    try:
        act()
    except Refused as refused:
        return refused.refusal
    return None


class History:
    """One vendor that submits, cancels and chooses while workers work, fail and time passes."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.now = START
        self.vendors = [world.vendor()]
        self.vendors.append(world.colleague(self.vendors[0]))
        with clock.frozen(self.now):
            self.task_set: TaskSetVersion = world.task_set(
                line=3, lineage=5, account=4, in_flight=2, preflight=4, cooldown_seconds=3 * 24 * 3600
            )
            self.lines: list[Harness] = [self.vendors[0].harness("one"), self.vendors[0].harness("two")]

    def step(self) -> None:
        self.now += timedelta(minutes=self.random.choice([0, 1, 7, 60, 60 * 9, 60 * 24 * 2]))
        acts: list[Callable[[], None]] = [self.submit] * 2 + [self.work] * 3 + [self.end, self.tick]
        with clock.frozen(self.now):
            self.random.choice(acts)()

    def submit(self) -> None:
        vendor, line = self.random.choice(self.vendors), self.random.choice(self.lines)
        window = self.window(vendor, line)
        order = vendor.order(self.task_set, line)
        said = refusal_of(lambda: services.submit(order, by=vendor.actor, key=uuid.uuid4().hex))
        shown = window.refusal()
        assert (said and (said.code, said.facts)) == (shown and (shown.code, shown.facts))

    def window(self, vendor: Vendor, line: Harness) -> queries.QuotaWindow:
        found = queries.quota_window(line, self.task_set, account=vendor.user.id)
        assert found is not None
        return found

    def open(self) -> list[Submission]:
        related = ("preflight_run", "canary_run", "held_out_run")
        return list(Submission.objects.exclude(state__in=ENDS).select_related(*related).order_by("id"))

    def work(self) -> None:
        """Whatever the next worker would do, sometimes badly."""
        for submission in self.open():
            if submission.state in ("created", "checking"):
                services.check(submission.id)
            elif submission.state == "preflight" and submission.preflight_run:
                if submission.preflight_run.state == "executing":
                    public_results(submission.preflight_run, crashed=self.random.choice([0, 0, 5]))
            elif submission.state == "queued" and submission.canary_run:
                if submission.canary_run.state == "executing":
                    self.random.choice([world.end_run, world.end_run, crash_canary])(submission.canary_run)
            elif submission.state == "running" and submission.held_out_run:
                self.random.choice([world.end_run, lambda run: lose(run, 2)])(submission.held_out_run)
            elif submission.state == "grading":
                self.conclude(submission)

    def conclude(self, submission: Submission) -> None:
        to = self.random.choice(["complete", "held", "awaiting_choice"])
        said = refusal_of(lambda: services.conclude(submission, to, by=world.BY))
        assert said is None or said.code == "move_not_possible"

    def end(self) -> None:
        for submission in self.open()[:1]:
            vendor = self.vendors[0]
            acts: dict[str, Callable[[], object]] = {
                "cancel": partial(services.cancel, submission.id, by=vendor.actor),
                "keep": partial(services.choose, submission.id, "keep", by=vendor.actor),
                "void": partial(services.choose, submission.id, "void", by=vendor.actor),
                "refund": partial(
                    services.refund, submission, cause="refund_by_staff", by=world.BY, reason="test"
                ),
            }
            said = refusal_of(acts[self.random.choice(sorted(acts))])
            assert said is None or said.code.endswith("_not_possible")

    def tick(self) -> None:
        services.sweep()

    def check(self) -> None:
        for submission in Submission.objects.select_related("slot"):
            moves = list(SubmissionTransition.objects.filter(submission=submission).order_by("id"))
            states = [move.state for move in moves]
            assert states[0] == "created"
            assert states[-1] == submission.state
            assert all(to in MOVES[state] for state, to in pairwise(states))
            assert [move.at for move in moves] == sorted(move.at for move in moves)
            assert (submission.state in ENDS) == (submission.ended_at is not None)
            slot = submission.slot
            assert (slot.consumed_at is not None) == ("running" in states)
            if submission.state in ("rejected", "preflight_failed", "voided") and "held" not in states:
                assert slot.state == "refunded"
        for line in self.lines:
            self.check_line(line)

    def check_line(self, line: Harness) -> None:
        with clock.frozen(self.now):
            window = self.window(self.vendors[0], line)
        counters = {counter.rule.value: counter for counter in window.counters}
        slots = Slot.objects.exclude(state="refunded").filter(task_set=self.task_set)
        assert counters["line"].used == slots.filter(line=line).count() <= 3
        assert counters["lineage"].used == slots.count() <= 5
        assert counters["account"].used == slots.filter(account=self.vendors[0].user).count() <= 4
        statements = [
            queries.charge(row).counts for row in Submission.objects.filter(harness_version__harness=line)
        ]
        assert counters["line"].used == sum(statements)
        refusal = window.refusal()
        if refusal is not None and refusal.next_allowed_at is not None:
            assert refusal.next_allowed_at > self.now


@pytest.mark.case("E9")
@pytest.mark.case("E24")
@pytest.mark.django_db
@pytest.mark.parametrize(
    "seed", [1, 5, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(6, 18))]
)
def test_invariants_hold_after_any_sequence(seed: int) -> None:
    history = History(seed)
    for _ in range(40):
        history.step()
        history.check()
    assert Submission.objects.count() >= 3
