"""The grid and the half widths: hand-computed values, monotone, the same for every caller."""

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring import grid, interval


@pytest.mark.parametrize(
    ("points", "shown"),
    [
        ("0", 0),
        ("0.4", 0),
        ("0.5", 1),
        ("45.49", 45),
        ("45.5", 46),
        ("45.4999999", 46),  # a mean of thirds that is truly 45.5
        ("45.499", 45),
        ("99.5", 100),
        ("100", 100),
    ],
)
def test_half_up(points: str, shown: int) -> None:
    assert grid.half_up(Decimal(points)) == shown


@pytest.mark.parametrize("points", ["-0.1", "100.1", "NaN", "Infinity"])
def test_outside_the_grid(points: str) -> None:
    with pytest.raises(ValueError, match="not within"):
        grid.half_up(Decimal(points))


points = st.decimals(min_value=0, max_value=100, places=5)


@given(points, points)
@settings(max_examples=150, deadline=None)
def test_half_up_is_monotone_and_within_half_a_point(one: Decimal, two: Decimal) -> None:
    low, high = sorted((one, two))
    assert grid.half_up(low) <= grid.half_up(high)
    assert abs(grid.half_up(one) - one) <= Decimal("0.5") + Decimal("1e-6")


@pytest.mark.parametrize(
    ("values", "shown"), [([40, 41, 42], 41), ([40, 41, 41], 41), ([40, 40, 41], 40), ([7], 7)]
)
def test_the_enterprise_value_is_the_mean_of_the_shown_ones(values: list[int], shown: int) -> None:
    assert grid.macro(values) == shown


def test_a_mean_of_nothing_is_an_error() -> None:
    with pytest.raises(ValueError, match="at least one"):
        grid.macro([])
    with pytest.raises(ValueError, match="at least one"):
        interval.macro_half_width([])


@pytest.mark.parametrize(
    ("p", "sizes", "rho", "width"),
    [
        # t(0.975, 5) = 2.570582; 6 families of 10: Σ(m/N)² = 1/6; 0.1/6 + 0.9/60 = 0.0316667
        # √(0.25 · 0.0316667) = 0.0889757; × 257.0582 = 22.87
        (50, [10] * 6, 0.1, 23),
        # √(0.09 · 0.0316667) = 0.0533854; × 257.0582 = 13.72
        (10, [10] * 6, 0.1, 14),
        (90, [10] * 6, 0.1, 14),
        # p(1 − p) = 0: the floor of one point
        (0, [10] * 6, 0.1, 1),
        (100, [10] * 6, 0.1, 1),
        # rho = 0, N = 400, F = 4: t(0.975, 3) = 3.182446; √(0.25/400) = 0.025; 7.956
        (50, [100] * 4, 0.0, 8),
        # rho = 1, unequal: Σ = 0.5² + 0.25² + 0.25² = 0.375; t(0.975, 2) = 4.302653; √(0.25 · 0.375) = 0.306186
        (50, [2, 1, 1], 1.0, 132),
        # t(0.975, 29) = 2.045230; 30 families, N = 286: 26 of 10, 2 of 9, 2 of 4; Σm² = 2794; 2794/286² = 0.0341582
        # 0.1 · 0.0341582 + 0.9/286 = 0.00656268; √(0.2484 · 0.00656268) = 0.0403757; 8.258
        (46, [10] * 26 + [9, 9, 4, 4], 0.1, 9),
    ],
)
def test_half_width(p: int, sizes: list[int], rho: float, width: int) -> None:
    assert interval.half_width(p, sizes, rho) == width


def test_the_table_is_symmetric_and_widest_in_the_middle() -> None:
    table = interval.table([10] * 30, 0.1)
    assert len(table) == 101
    assert table == table[::-1]
    assert table[:51] == sorted(table[:51])
    assert table[37] == interval.half_width(37, [10] * 30, 0.1)


@pytest.mark.parametrize(
    ("p", "sizes", "rho"),
    [
        (101, [5, 5], 0.1),
        (-1, [5, 5], 0.1),
        (50, [5], 0.1),
        (50, [], 0.1),
        (50, [5, 0], 0.1),
        (50, [5, 5], 1.1),
    ],
)
def test_what_gives_no_half_width(p: int, sizes: list[int], rho: float) -> None:
    with pytest.raises(ValueError, match=r"not within|families|positive"):
        interval.half_width(p, sizes, rho)


@given(st.integers(0, 100), st.lists(st.integers(1, 60), min_size=2, max_size=40), st.floats(0, 1))
@settings(max_examples=80, deadline=None)
def test_more_correlation_never_narrows_the_interval(p: int, sizes: list[int], rho: float) -> None:
    assert 1 <= interval.half_width(p, sizes, 0.0) <= interval.half_width(p, sizes, rho)


@pytest.mark.parametrize(
    ("widths", "width"),
    [([9, 9, 9], 6), ([2, 2, 1], 1), ([1, 1, 1], 1), ([10, 12, 14], 7), ([8, 8, 4], 4), ([8, 8, 5], 5)],
)
def test_the_half_width_of_the_enterprise_mean(widths: list[int], width: int) -> None:
    # √243/3 = 5.196; √9/3 = 1; √3/3 = 0.577; √440/3 = 6.992; √144/3 = 4; √153/3 = 4.123
    assert interval.macro_half_width(widths) == width
