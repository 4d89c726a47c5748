"""The gate: which differences are too small to answer, and that closing it tells nothing of right and wrong."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from governance.disclosure.changes import TaskBehaviour
from governance.disclosure.gate import Known, Silence, Silenced, is_on, noise_of, silences

QUIET = Fraction(0)
DOMAINS = ("general", "finance")
Rows = dict[str, dict[str, TaskBehaviour]]


def rows(tasks: int = 60, **changed: range) -> Rows:
    """Deterministic answers; those of the tasks in `changed` differ, by domain."""
    return {
        domain: {
            f"{domain}{n}": TaskBehaviour(
                f"new{n}" if n in changed.get(domain, range(0)) else f"old{n}", True, None
            )
            for n in range(tasks)
        }
        for domain in DOMAINS
    }


def known(behaviour: Rows, key: str = "first", shown: tuple[str, ...] = DOMAINS) -> Known[str]:
    return Known(key, behaviour, dict.fromkeys(DOMAINS, QUIET), frozenset(shown))


def closed(
    now: Rows, *earlier: Known[str], noise: Fraction = QUIET, runs: int = 1
) -> dict[str, Silenced[str]]:
    return silences(now, dict.fromkeys(now, noise), earlier, grid_points=1, runs_per_task=runs)


@pytest.mark.acceptance("governance:2")
@pytest.mark.parametrize(("changed", "is_closed"), [(1, True), (19, True), (20, False), (60, False)])
def test_one_to_nineteen_changed_tasks_close_their_domain(changed: int, is_closed: bool) -> None:
    found = closed(rows(finance=range(changed)), known(rows()))
    assert found == ({"finance": Silenced(Silence.NEAR_DUPLICATE, "first")} if is_closed else {})


@pytest.mark.acceptance("governance:3")
def test_the_first_submission_always_gets_its_values() -> None:
    assert closed(rows()) == {}
    # Half of a domain crashed: that is behaviour of its own, and nothing to subtract from.
    crashed = {
        domain: {t: TaskBehaviour("x", False, None) for t in tasks} for domain, tasks in rows().items()
    }
    assert closed(crashed, known(rows())) == {}


@pytest.mark.acceptance("governance:3")
def test_a_repeat_is_answered_in_no_domain() -> None:
    assert closed(rows(), known(rows(), "one"), known(rows(finance=range(30)), "two")) == {
        domain: Silenced(Silence.REPEAT, "one") for domain in DOMAINS
    }


def test_what_was_never_shown_cannot_be_subtracted_from() -> None:
    gated = known(rows(finance=range(5)), "gated", shown=("general",))
    assert closed(rows(finance=range(30)), known(rows()), gated) == {}


def test_the_first_that_stands_in_the_way_is_named() -> None:
    found = closed(rows(finance=range(3)), known(rows(), "one"), known(rows(finance=range(2)), "two"))
    assert found["finance"].earlier == "one"


@pytest.mark.acceptance("governance:2")
def test_noise_is_the_variance_of_the_mean_in_squared_points() -> None:
    # Two tasks: spread (1, 0, 0) has variance 1/3, over 3 runs 1/9; the other none. (1/9) / 2² · 100² = 2500/9.
    one, other = [Fraction(1), Fraction(0), Fraction(0)], [Fraction(1)] * 3
    assert noise_of([one, other]) == Fraction(2500, 9)
    assert noise_of([[Fraction(1)], [Fraction(0)]]) == 0
    assert noise_of([]) == 0


@pytest.mark.acceptance("governance:2")
@pytest.mark.parametrize(
    ("one", "other", "runs", "expected"),
    [
        (Fraction(0), Fraction(0), 3, True),
        (Fraction(12, 100), Fraction(12, 100), 3, True),  # √0.24 = 0.49 points
        (Fraction(13, 100), Fraction(12, 100), 3, False),  # √0.25 is half a step
        (Fraction(9), Fraction(9), 1, True),  # one run per task: nobody knows the spread
    ],
)
def test_the_gate_is_on_where_the_difference_is_quieter_than_half_a_step(
    one: Fraction, other: Fraction, runs: int, expected: bool
) -> None:
    assert is_on(one, other, grid_points=1, runs_per_task=runs) is expected


def test_a_harness_that_wanders_gets_its_values() -> None:
    assert closed(rows(finance=range(3)), known(rows()), noise=Fraction(1), runs=3) == {}


def test_answers_that_only_look_random_do_not_open_the_gate() -> None:
    """A nonce in each artefact hides what changed; where scores do not wander, that closes the domain."""
    veiled = {domain: {t: TaskBehaviour(None, True, None) for t in tasks} for domain, tasks in rows().items()}
    found = closed(veiled, known(rows()), runs=3)
    assert {one.reason for one in found.values()} == {Silence.NEAR_DUPLICATE}


CASES = given(seed=st.integers(0, 2**32), changed=st.integers(0, 25), runs=st.sampled_from([1, 3]))


@pytest.mark.acceptance("governance:3")
@settings(max_examples=1_000, deadline=None)
@CASES
def test_silence_can_be_simulated_without_the_labels(seed: int, changed: int, runs: int) -> None:
    """Exchanging right and wrong among the changed tasks never moves the gate: it could be foretold without them."""
    exchange(seed, changed, runs)


@pytest.mark.slow
@pytest.mark.acceptance("governance:3")
@settings(max_examples=10_000, deadline=None)
@CASES
def test_silence_can_be_simulated_in_ten_thousand_cases(seed: int, changed: int, runs: int) -> None:
    exchange(seed, changed, runs)


def exchange(seed: int, changed: int, runs: int) -> None:
    chance = random.Random(seed)
    before, after = rows(30), rows(30, finance=range(changed))
    scores = [[Fraction(chance.randint(0, 1)) for _ in range(runs)] for _ in range(30)]
    exchanged = [
        [1 - score for score in task] if n < changed and chance.random() < 0.5 else task
        for n, task in enumerate(scores)
    ]
    permuted = [scores[n] for n in chance.sample(range(changed), changed)] + scores[changed:]

    def decided(now: list[list[Fraction]]) -> dict[str, Silenced[str]]:
        noise = {"general": QUIET, "finance": noise_of(now)}
        return silences(after, noise, [known(before)], grid_points=1, runs_per_task=runs)

    assert decided(scores) == decided(exchanged) == decided(permuted)
