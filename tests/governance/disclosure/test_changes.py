"""Which tasks behave differently: answers, activity and cost, compared by hand."""

from __future__ import annotations

import math

import pytest

from governance.disclosure.changes import RunBehaviour, TaskBehaviour, are_equal, behaviour, changes

pytestmark = pytest.mark.acceptance("governance:2")


def task(answer: str | None = "a", is_active: bool = True, tokens: int | None = None) -> TaskBehaviour:
    return TaskBehaviour(answer, is_active, None if tokens is None else math.log1p(tokens))


def runs(*answers: str, tokens: tuple[int, ...] = ()) -> list[RunBehaviour]:
    return [RunBehaviour(answer, True, tokens[at] if tokens else None) for at, answer in enumerate(answers)]


@pytest.mark.parametrize(
    ("answers", "majority"),
    [
        (("a",), "a"),
        (("a", "b"), None),
        (("a", "a", "b"), "a"),
        (("a", "b", "c"), None),
        (("", "", "a"), None),  # digests that were not taken are no answer
    ],
)
def test_an_answer_is_what_more_than_half_of_the_runs_left(
    answers: tuple[str, ...], majority: str | None
) -> None:
    found = behaviour(runs(*answers))
    assert found is not None
    assert found.answer == majority


def test_without_a_valid_run_there_is_no_behaviour() -> None:
    assert behaviour([]) is None


def test_tokens_are_the_median_of_their_logarithms() -> None:
    found = behaviour(runs("a", "a", "a", tokens=(10, 1000, 20)))
    assert found is not None
    assert found.log_tokens == pytest.approx(math.log(21))


def test_known_changed_sets() -> None:
    before = {"t1": task("a"), "t2": task("b"), "t3": task("c"), "t4": task(None), "t5": task("e")}
    after = {"t1": task("a"), "t2": task("x"), "t3": task("c", False), "t4": task("d"), "t6": task("f")}
    found = changes(before, after)
    assert (set(found.changed), set(found.untold), found.compared) == (
        {"t2", "t3", "t5", "t6"},
        {"t4"},
        4,
    )
    assert not are_equal(before, after)


def test_a_drift_that_all_tasks_share_is_no_change() -> None:
    before = {f"t{n}": task("a", tokens=1000) for n in range(20)}
    after = {f"t{n}": task("a", tokens=2000) for n in range(20)}
    assert not changes(before, after).changed
    # 10 % more than the others, with no spread among them: five times the least scale of 2 % is 10.5 % in tokens
    after["t3"] = task("a", tokens=2000 * 111 // 100)
    after["t4"] = task("a", tokens=2000 * 110 // 100)
    assert changes(before, after).changed == {"t3"}


def test_equal_means_every_answer_known_and_the_same() -> None:
    assert are_equal({"t": task("a")}, {"t": task("a", tokens=5)})
    assert not are_equal({"t": task(None)}, {"t": task(None)})
    assert not are_equal({"t": task("a")}, {"t": task("a"), "u": task("a")})
