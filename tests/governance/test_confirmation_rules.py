"""The state table of confirmation runs, and their side figures: pure rules, over whatever may come."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

from hypothesis import given, settings
from hypothesis import strategies as st

from governance import leaks
from governance.confirmation.figures import Means, side_figures
from governance.confirmation.policies import ENDS, LATE, MOVES, Facts, may_withdraw, must_repeat, next_move
from governance.disclosure import bits
from governance.release import DOMAINS, ENTERPRISE

STATES = sorted({*MOVES, *ENDS})
FACTS = st.builds(
    Facts,
    state=st.sampled_from(STATES),
    has_consent=st.booleans(),
    objected=st.booleans(),
    may_publish=st.booleans(),
    line_is_free=st.booleans(),
    run_state=st.sampled_from(["", "executing", "grading", "ended", "cancelled"]),
    missing=st.integers(0, 2),
    is_on_tick=st.booleans(),
    is_overdue=st.booleans(),
    is_dated=st.booleans(),
)


@settings(max_examples=300)
@given(FACTS)
def test_every_move_is_legal_and_nothing_that_was_published_moves(facts: Facts) -> None:
    move = next_move(facts)
    if move is not None:
        assert move.to in MOVES[facts.state]
        assert not facts.is_dated
        assert facts.state not in ENDS or move.to == "withdrawn"
    if not facts.has_consent and move is not None:
        assert move.to == "withdrawn", "without consent nothing goes on"


@settings(max_examples=300)
@given(FACTS)
def test_every_state_has_an_exit_by_its_deadline(facts: Facts) -> None:
    late = replace(facts, is_overdue=True, is_on_tick=True, is_dated=False)
    if facts.state in ENDS:
        return
    assert facts.state in LATE
    assert next_move(late) is not None
    assert not must_repeat(late)
    assert may_withdraw(facts.state, is_dated=False)


@settings(max_examples=100)
@given(st.lists(FACTS, min_size=20, max_size=20))
def test_a_history_ends_and_then_stays(steps: list[Facts]) -> None:
    """Whatever is told at each tick, it walks along the table, and after the end only a withdrawal can come."""
    state, seen = "requested", ["requested"]
    for facts in steps:
        move = next_move(replace(facts, state=state))
        if move is not None:
            state = move.to
            seen.append(state)
    assert len(seen) <= 6
    assert len(set(seen)) == len(seen)


def test_a_whole_run_is_late_but_never_lost() -> None:
    facts = Facts("grading", True, False, True, True, "ended", 0, is_on_tick=False, is_overdue=True)
    assert next_move(facts) is None
    assert next_move(replace(facts, missing=1)).to == "incomplete"  # type: ignore[union-attr]


# --- side figures -------------------------------------------------------------------------------------


def means(tasks: int, success: str = "0.5", tokens: str = "1849") -> Means:
    return Means(
        tasks,
        {"success": Decimal(success), "reliability": Decimal("0.25")},
        {"tokens": (Decimal(tokens), leaks.MOST_TOKENS), "seconds": (Decimal("3.4"), leaks.MOST_SECONDS)},
    )


def test_the_official_bank_shows_each_domains_own_and_is_covered_by_the_ceiling() -> None:
    sizes = dict(zip(DOMAINS, (477, 286, 286, 286), strict=True))
    found = side_figures({name: means(tasks) for name, tasks in sizes.items()})
    assert found.shown["success"] == dict.fromkeys(DOMAINS, 50)
    assert found.shown["tokens"] == dict.fromkeys(DOMAINS, 1800)
    assert found.shown["seconds"] == dict.fromkeys(DOMAINS, 3)
    charge = bits.millibits([bits.GRID_LEVELS] * 4 + found.levels)
    assert bits.ONE_RESULT < charge <= leaks.confirmation_millibits()


def test_small_domains_are_pooled_or_left_out() -> None:
    pooled = side_figures(
        {
            "general": means(59),
            **dict(zip(ENTERPRISE, (means(50, "0"), means(50, "1"), means(100, "0.5")), strict=True)),
        }
    )
    assert pooled.shown["success"] == {"enterprise": 50}, "steps of 2 points over 200 tasks, general left out"
    assert set(pooled.shown["tokens"]) == {"enterprise"}
    nothing = side_figures({name: means(19) for name in DOMAINS})
    assert (nothing.shown, nothing.levels) == ({}, [])


@settings(max_examples=100)
@given(
    st.lists(st.integers(1, 600), min_size=4, max_size=4),
    st.decimals(0, 1, places=6),
    st.decimals(0, 10**12, places=2),
    st.decimals(0, 1, places=6),
)
def test_which_figures_are_shown_depends_on_the_version_alone(
    sizes: list[int], success: Decimal, tokens: Decimal, other: Decimal
) -> None:
    one = side_figures(
        {name: means(n, str(success), str(tokens)) for name, n in zip(DOMAINS, sizes, strict=True)}
    )
    two = side_figures({name: means(n, str(other), "0") for name, n in zip(DOMAINS, sizes, strict=True)})
    assert {name: set(row) for name, row in one.shown.items()} == {
        name: set(row) for name, row in two.shown.items()
    }
    assert one.levels == two.levels
    assert bits.millibits([bits.GRID_LEVELS] * 4 + one.levels) <= leaks.confirmation_millibits()
    assert len(one.levels) == sum(len(row) for row in one.shown.values())
