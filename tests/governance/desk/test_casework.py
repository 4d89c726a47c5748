"""Whatever happens to a case, it has an owner, a deadline and a way on until it is closed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from governance.desk import casework
from governance.desk.casework import CLOSED, MOVES, STAGES, Act, Happening, Standing

BEGIN = datetime(2026, 11, 2, 9, tzinfo=UTC)
WHATS = [*Act, Happening.ALARM, Happening.ANSWERED]
histories = st.lists(st.tuples(st.sampled_from(WHATS), st.integers(0, 40)), max_size=40)


def lived(history: list[tuple[str, int]]) -> None:
    """Days pass, decisions and happenings come; every state on the way is looked at."""
    now, case = BEGIN, casework.begin(BEGIN)
    for what, days in history:
        now += timedelta(days=days)
        case = swept(case, now)
        case = casework.step(case, what, now) or case
        sound(case, now)
    # Left alone it comes to an end.
    for _ in range(6):
        now = case.due or now
        case = swept(case, now)
        sound(case, now)
    assert case.state == CLOSED


def swept(case: Standing, now: datetime) -> Standing:
    while case.due is not None and casework.is_late(case, now):
        after = casework.step(case, Happening.LATE, case.due)
        assert after is not None
        assert after.state != case.state
        case = after
    return case


def sound(case: Standing, now: datetime) -> None:
    if case.state == CLOSED:
        assert (case.owner, case.due) == (None, None)
        assert case.outcome
        assert not casework.acts(CLOSED)
        return
    assert case.owner is not None
    assert case.due is not None
    assert case.due > now
    assert not case.outcome
    assert casework.acts(case.state)
    assert any(was == case.state and to == CLOSED for (was, _), to in MOVES.items())


@pytest.mark.acceptance("governance:9")
@settings(max_examples=1000, deadline=None, suppress_health_check=list(HealthCheck))
@given(histories)
def test_a_thousand_histories_never_reach_a_state_without_exit_deadline_and_owner(
    history: list[tuple[str, int]],
) -> None:
    lived(history)


@pytest.mark.slow
@pytest.mark.acceptance("governance:9")
@settings(max_examples=10_000, deadline=None, suppress_health_check=list(HealthCheck))
@given(histories)
def test_ten_thousand_histories(history: list[tuple[str, int]]) -> None:
    lived(history)


def test_no_decision_made_again_and_again_keeps_a_case_open() -> None:
    case = casework.step(casework.begin(BEGIN), Act.TAKE, BEGIN)
    assert case is not None
    again = casework.step(case, Act.HOLD, BEGIN + timedelta(days=3))
    assert again == case


def test_every_state_is_left_by_its_deadline_and_by_decision() -> None:
    for state, stage in STAGES.items():
        assert MOVES[state, Happening.LATE] == stage.late
        assert stage.days > 0
        assert casework.PAIRS[state]
    assert ("asked", Act.ASK) not in MOVES
