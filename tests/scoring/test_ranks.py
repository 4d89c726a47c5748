"""Rank ranges: hand-computed boards, and what no board may do."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.ranks import RankRange, Shown, p_of, rank_ranges

BOARD = st.lists(st.builds(Shown, st.integers(0, 100), st.integers(1, 20)), max_size=8)


def test_a_difference_of_one_combined_half_width_is_the_five_per_cent_point() -> None:
    """√(3² + 4²) = 5 points: z = 1.96."""
    assert p_of(Shown(50, 3), Shown(55, 4)) == pytest.approx(0.05, abs=1e-6)
    assert p_of(Shown(50, 3), Shown(50, 4)) == 1.0


@pytest.mark.parametrize(
    ("board", "expected"),
    [
        ([], []),
        ([(40, 3)], [(1, 1)]),
        # 6 points at √(3² + 4²) = 5: z = 2.35, p = 0.019; 4 points: z = 1.57, p = 0.12.
        ([(50, 3), (56, 4)], [(2, 2), (1, 1)]),
        ([(50, 3), (54, 4)], [(1, 2), (1, 2)]),
        # Three pairs: 20 apart is z = 9.2; 10 apart is z = 4.6 twice: all three hold.
        ([(50, 3), (60, 3), (70, 3)], [(3, 3), (2, 2), (1, 1)]),
        # 50 against 56 is z = 2.77, p = 0.0056; 62 against 56 the same; 50 against 62 z = 5.5. Holm: p₁ ≤ 0.0167,
        # then 0.0056 ≤ 0.025, then 0.0056 ≤ 0.05.
        ([(50, 3), (56, 3), (62, 3)], [(3, 3), (2, 2), (1, 1)]),
        # 4 apart is z = 1.85: neither neighbour; 8 apart is z = 3.70, p = 0.0002.
        ([(50, 3), (54, 3), (58, 3)], [(2, 3), (1, 3), (1, 2)]),
        # z = 2.31, p = 0.021: alone it would differ, as the first of three pairs it would need 0.0167.
        ([(50, 3), (55, 3)], [(2, 2), (1, 1)]),
        ([(50, 3), (55, 3), (50, 3)], [(1, 3), (1, 3), (1, 3)]),
    ],
)
def test_boards_by_hand(board: list[tuple[int, int]], expected: list[tuple[int, int]]) -> None:
    found = rank_ranges([Shown(*row) for row in board])
    assert [(row.best, row.worst) for row in found] == expected


@given(BOARD)
def test_every_range_lies_within_the_board_and_holds_the_plain_rank(board: list[Shown]) -> None:
    for row, found in zip(board, rank_ranges(board), strict=True):
        above = sum(other.value > row.value for other in board)
        assert 1 <= found.best <= 1 + above <= found.worst <= found.of == len(board)


@given(BOARD, st.randoms(use_true_random=False))
def test_the_order_of_the_board_does_not_matter(board: list[Shown], dice: object) -> None:
    before = dict(zip(map(id, board), rank_ranges(board), strict=True))
    shuffled = list(board)
    dice.shuffle(shuffled)
    by_value = sorted((row.value, row.h, found.best, found.worst) for row, found in _ranked(shuffled))
    assert by_value == sorted(
        (row.value, row.h, before[id(row)].best, before[id(row)].worst) for row in board
    )


def _ranked(board: list[Shown]) -> list[tuple[Shown, RankRange]]:
    return list(zip(board, rank_ranges(board), strict=True))


def test_a_half_width_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one point"):
        rank_ranges([Shown(40, 0)])
