"""Aggregation against hand-computed values: two levels, coverage, bounds, reliability, failure shares."""

from decimal import Decimal
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring import aggregate
from scoring.aggregate import RunScore, reliability_at_k, summarise


def _run(score: str, *, success: bool = False, failure: str | None = "numeric_or_state_error") -> RunScore:
    return RunScore(Decimal(score), success, None if success else failure)


GOOD, HALF, BAD = _run("1", success=True), _run("0.5"), _run("0", failure="missing_deliverable")


def test_tasks_count_equally_whatever_their_number_of_runs() -> None:
    summary = summarise([[GOOD, GOOD, BAD, BAD], [HALF]])
    assert summary.task_score == Decimal("0.5")
    assert summary.success_rate == Decimal("0.25")
    assert summary.coverage == 1
    assert summary.is_complete
    assert summary.bounds == (Decimal("0.5"), Decimal("0.5"))


def test_an_unavailable_task_leaves_both_sums_and_lowers_the_coverage() -> None:
    summary = summarise([[GOOD, None], [None, None], [BAD, HALF]])
    assert summary.task_score == Decimal("0.625")  # (1 + 0.25) / 2
    assert (summary.tasks_valid, summary.tasks_prescribed) == (2, 3)
    assert (summary.runs_valid, summary.runs_prescribed) == (3, 6)
    assert (summary.coverage, summary.is_complete) == (Decimal("0.5"), False)
    low, high = summary.bounds
    assert low.quantize(Decimal("0.0001")) == Decimal("0.2500")  # (0.5 + 0 + 0.25) / 3
    assert high.quantize(Decimal("0.0001")) == Decimal("0.7500")  # (1 + 1 + 0.25) / 3


def test_failure_shares_are_over_valid_runs_and_name_every_type() -> None:
    summary = summarise([[GOOD, BAD], [HALF, None], [_run("0", failure="budget_exhausted"), GOOD]])
    assert {kind: share for kind, share in summary.failure_shares.items() if share} == {
        "missing_deliverable": Decimal("0.2"),
        "numeric_or_state_error": Decimal("0.2"),
        "budget_exhausted": Decimal("0.2"),
    }
    assert len(summary.failure_shares) == 5


def test_nothing_valid_gives_no_score() -> None:
    summary = summarise([[None], [None]])
    assert (summary.task_score, summary.success_rate) == (None, None)
    assert summary.coverage == 0
    assert summary.bounds == (Decimal(0), Decimal(1))
    assert summarise([]).task_score is None


def test_a_task_without_prescribed_runs_is_an_error() -> None:
    with pytest.raises(ValueError, match="no prescribed run"):
        summarise([[]])


def test_there_is_no_total_over_domains() -> None:
    assert not any("total" in name or "overall" in name for name in dir(aggregate))


@pytest.mark.parametrize(
    ("tasks", "k", "expected"),
    [
        ([[GOOD, GOOD, BAD]], 1, Decimal(2) / 3),
        ([[GOOD, GOOD, BAD]], 2, Decimal(1) / 3),
        ([[GOOD, GOOD, BAD]], 3, Decimal(0)),
        ([[GOOD, GOOD, GOOD], [BAD, BAD, GOOD]], 3, Decimal("0.5")),
        ([[GOOD] * 4, [GOOD, BAD]], 2, Decimal("0.5")),
        ([[GOOD, None]], 1, None),
    ],
)
def test_reliability(tasks: list[list[RunScore | None]], k: int, expected: Decimal | None) -> None:
    found = reliability_at_k(tasks, k)
    assert (found is None) == (expected is None)
    if found is not None and expected is not None:
        assert abs(found - expected) < Decimal("1e-20")


@pytest.mark.parametrize("k", [0, 3])
def test_reliability_needs_k_runs_of_every_task(k: int) -> None:
    with pytest.raises(ValueError, match="k ="):
        reliability_at_k([[GOOD, GOOD], [GOOD, GOOD, GOOD]], k)


runs = st.lists(st.booleans().map(lambda good: GOOD if good else BAD), min_size=4, max_size=6)
tasks = st.lists(runs, min_size=1, max_size=6)


@given(tasks)
@settings(max_examples=80, deadline=None)
def test_reliability_falls_with_k_and_begins_at_the_success_rate(rows: list[list[RunScore]]) -> None:
    values = [reliability_at_k(rows, k) for k in range(1, 5)]
    known = [value for value in values if value is not None]
    assert len(known) == 4
    assert known == sorted(known, reverse=True)
    assert known[-1] >= 0
    assert known[0] <= 1
    assert known[0] == summarise(rows).success_rate


@given(runs, st.integers(1, 4))
@settings(max_examples=60, deadline=None)
def test_reliability_is_the_share_of_draws_that_all_succeed(row: list[RunScore], k: int) -> None:
    draws = list(combinations(row, k))
    expected = Decimal(sum(all(run.success for run in draw) for draw in draws)) / len(draws)
    found = reliability_at_k([row], k)
    assert found is not None
    assert abs(found - expected) < Decimal("1e-20")


some_runs = st.lists(st.none() | st.sampled_from([GOOD, HALF, BAD]), min_size=1, max_size=4)


@given(st.lists(some_runs, min_size=1, max_size=8))
@settings(max_examples=80, deadline=None)
def test_the_bounds_hold_every_way_the_missing_runs_could_end(rows: list[list[RunScore | None]]) -> None:
    low, high = summarise(rows).bounds
    filled = summarise([[HALF if run is None else run for run in task] for task in rows]).task_score
    assert filled is not None
    assert 0 <= low <= filled <= high <= 1
