"""What answers can carry: hand-computed bits, and an account that never goes below nothing."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.disclosure import bits
from governance.disclosure.bits import Balance

pytestmark = pytest.mark.acceptance("governance:2")


@pytest.mark.parametrize(
    ("levels", "expected"),
    [
        ([], 0),
        ([1, 1], 0),
        ([2], 1000),
        ([2] * 10, 10_000),
        ([3], 1585),  # log2 3 = 1.58496…
        ([101], 6659),  # log2 101 = 6.65821…
        ([101] * 4, 26_633),  # 26.63284…
    ],
)
def test_a_value_with_l_levels_costs_the_logarithm_of_l(levels: list[int], expected: int) -> None:
    assert bits.millibits(levels) == expected


def test_a_figure_without_values_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one"):
        bits.millibits([0])


@pytest.mark.parametrize(
    ("values", "bounds", "expected"),
    [(4, 0, 26_633), (3, 0, 19_975), (0, 0, 0), (4, 4, 79_899), (1, 1, 19_975)],
)
def test_what_a_result_charges(values: int, bounds: int, expected: int) -> None:
    assert bits.of_result(values, bounds=bounds) == expected


@pytest.mark.parametrize(
    ("asked", "bounds", "expected"),
    [(4, 0, 26_690), (1, 0, 6673), (4, 4, 79_956), (0, 0, 0)],  # 6.67243 bits each: 101 values or silence
)
def test_under_the_ladder_a_silence_is_charged_as_one_more_value(
    asked: int, bounds: int, expected: int
) -> None:
    assert bits.of_result(0, bounds=bounds, ladder=asked) == expected


def test_capacity_is_quota_times_a_result_and_a_confirmation() -> None:
    assert bits.capacity(lineage_quota=5, confirmation=26_633) == 5 * (26_633 + 26_633)
    assert bits.capacity(lineage_quota=3, confirmation=53_266) == 3 * (26_633 + 26_633 + 26_633)


@given(st.lists(st.integers(1, 10_000), max_size=40))
def test_charges_cover_what_is_told(levels: list[int]) -> None:
    """Never less than the sum of the logarithms, never a thousandth more."""
    true = 1000 * sum(math.log2(count) for count in levels)
    assert true - 0.01 <= bits.millibits(levels) < true + 1.01


@given(st.integers(0, 10**7), st.lists(st.integers(0, 10**5), max_size=60))
def test_an_account_never_goes_negative_where_only_what_it_covers_is_charged(
    budget: int, charges: list[int]
) -> None:
    account = Balance(budget, 0)
    for charge in charges:
        if account.covers(charge):
            account = Balance(budget, account.spent + charge)
        assert 0 <= account.left == budget - account.spent


def test_a_correction_may_overdraw_and_nothing_is_left_then() -> None:
    assert Balance(1000, 1500).left == 0
    assert not Balance(1000, 1500).covers(0)
