"""The growing ladder and the shapes of side figures, by hand."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.disclosure import ladder, sides

pytestmark = pytest.mark.acceptance("governance:2")


def test_the_first_value_is_always_shown() -> None:
    assert ladder.is_shown(0, None, answers=1, paired_error=9.0)


@pytest.mark.parametrize(
    ("answers", "error", "expected"),
    [
        (1, 5.0, 1.0),  # ln 1 = 0: the step
        (2, 0.5, 1.0),  # √(2 ln 2) · 0.5 = 0.589
        (3, 2.0, 2 * math.sqrt(2 * math.log(3))),  # 2.965
        (100, 1.0, math.sqrt(2 * math.log(100))),  # 3.035
    ],
)
def test_the_rungs_grow_with_the_answers(answers: int, error: float, expected: float) -> None:
    assert ladder.threshold(answers, paired_error=error) == pytest.approx(expected)


def test_only_what_beats_the_best_by_enough_is_shown() -> None:
    assert ladder.is_shown(53, 50, answers=3, paired_error=2.0)  # 2.965
    assert not ladder.is_shown(52, 50, answers=3, paired_error=2.0)
    assert not ladder.is_shown(50, 50, answers=2, paired_error=0.0)
    with pytest.raises(ValueError, match="at least"):
        ladder.threshold(0, paired_error=1.0)


def test_the_paired_error_is_that_of_a_mean_in_points() -> None:
    # Differences 1, 0, 0, −1: mean 0, variance 2/3, over 4: √(1/6) = 0.408
    found = ladder.paired_error([Fraction(1), Fraction(0), Fraction(0), Fraction(-1)])
    assert found == pytest.approx(100 * math.sqrt(1 / 6))
    assert ladder.paired_error([Fraction(1)]) == 0.0


@pytest.mark.parametrize(
    ("tasks", "largest", "step"),
    [
        (286, None, 1),
        (477, None, 1),
        (285, None, 2),
        (143, None, 2),
        (142, None, 5),
        (60, None, 5),
        (286, Fraction(1, 143), 2),
        (286, Fraction(1, 50), 10),
    ],
)
def test_the_step_hides_a_single_task(tasks: int, largest: Fraction | None, step: int) -> None:
    assert sides.step_of(tasks, largest_share=largest) == step


@pytest.mark.parametrize(("tasks", "largest"), [(59, None), (0, None), (286, Fraction(1, 28))])
def test_too_few_tasks_are_not_shown(tasks: int, largest: Fraction | None) -> None:
    with pytest.raises(sides.TooFewTasks):
        sides.step_of(tasks, largest_share=largest)


@pytest.mark.parametrize(
    ("value", "step", "shown"), [("0.455", 1, 46), ("0.455", 5, 45), ("0.475", 5, 50), ("1", 10, 100)]
)
def test_shares_are_rounded_half_up_on_their_step(value: str, step: int, shown: int) -> None:
    assert sides.share(Decimal(value), step) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [("0", 0), ("3.4", 3), ("99.4", 99), ("99.5", 100), ("1849", 1800), ("1850", 1900), ("995", 1000)],
)
def test_magnitudes_have_two_digits(value: str, shown: int) -> None:
    assert sides.magnitude(Decimal(value)) == shown


@given(st.integers(0, 20_000))
def test_levels_count_every_magnitude(most: int) -> None:
    shown = {sides.magnitude(Decimal(number)) for number in range(0, most + 1, max(1, most // 4000))}
    assert len(shown) <= sides.levels_of_magnitude(most) + 1
    if most <= 4000:
        exact = {sides.magnitude(Decimal(number)) for number in range(most + 1)}
        assert len([value for value in exact if value <= most]) == sides.levels_of_magnitude(most)
