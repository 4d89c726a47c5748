"""The table of moves, deadlines and owners; who may have a say; working days. No database."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from importlib import import_module

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from config import workdays
from governance.appeals import policies
from governance.appeals.policies import (
    ANSWER_DAYS,
    ENDS,
    MOVES,
    STAGES,
    Concern,
    Effect,
    Outcome,
    Owner,
    State,
    Subject,
    Ties,
)
from submissions.problems import Code

BEGIN = datetime(2026, 9, 1, tzinfo=UTC)
INSTANTS = st.integers(0, 3_000_000).map(lambda minutes: BEGIN + timedelta(minutes=minutes))


@dataclass(frozen=True)
class History:
    """An appeal as the services keep it, without a database."""

    state: str
    filed: datetime
    since: datetime
    due: datetime | None
    escalations: int = 0

    def moved(self, to: str, at: datetime) -> History:
        due = policies.due(to, since=at, filed=self.filed, escalations=self.escalations)
        return replace(self, state=to, since=at, due=due)

    def escalated(self, at: datetime) -> History:
        count = self.escalations + 1
        due = policies.due(self.state, since=at, filed=self.filed, escalations=count)
        return replace(self, due=due, escalations=count)


STEPS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 12 * 24)), max_size=14)


def lived(steps: list[tuple[int, int]]) -> None:
    """Walk through the table: whatever happens, an open appeal has a way on, a deadline ahead and an owner."""
    now = BEGIN
    due = policies.due(State.FILED, since=now, filed=now, escalations=0)
    history = History(State.FILED, now, now, due)
    for choice, hours in steps:
        now += timedelta(hours=hours)
        if history.due is not None and history.due <= now:
            history = history.escalated(now)
        exits = MOVES.get(history.state, ())
        if exits and choice < 2 * len(exits):
            history = history.moved(exits[choice % len(exits)], now)
        is_over = history.state in ENDS
        assert bool(MOVES.get(history.state)) is not is_over
        assert (policies.owner(history.state, escalations=history.escalations) is None) is is_over
        assert (history.due is None) is is_over
        if not is_over and history.escalations:
            assert history.due is not None
            assert history.due > now


@pytest.mark.acceptance("governance:9")
@settings(max_examples=1000, deadline=None, suppress_health_check=list(HealthCheck))
@given(STEPS)
def test_no_history_reaches_a_state_without_exit_deadline_and_owner(steps: list[tuple[int, int]]) -> None:
    lived(steps)


@pytest.mark.slow
@pytest.mark.acceptance("governance:9")
@settings(max_examples=10_000, deadline=None, suppress_health_check=list(HealthCheck))
@given(STEPS)
def test_ten_thousand_histories(steps: list[tuple[int, int]]) -> None:
    lived(steps)


def test_every_state_is_in_the_table_and_leads_to_an_end() -> None:
    assert set(STAGES) == set(MOVES) == set(State) - ENDS
    reached, todo = set(), [State.FILED.value]
    while todo:
        state = todo.pop()
        if state not in reached:
            reached.add(state)
            todo += [str(to) for to in MOVES.get(state, ())]
    assert reached == {state.value for state in State}
    for state in MOVES:
        ends, seen = [state], set()
        while ends:
            found = ends.pop()
            seen.add(found)
            ends += [to for to in MOVES.get(found, ()) if to not in seen]
        assert seen & ENDS, state


def test_the_database_has_the_same_table() -> None:
    guarded = import_module("governance.appeals.migrations.0002_appeals_guarded")
    assert {state: tuple(map(str, to)) for state, to in MOVES.items()} == guarded.MOVES


def test_the_stages_are_those_of_the_rules_and_the_answer_comes_in_fifteen_days() -> None:
    assert [STAGES[state].days for state in (State.FILED, State.ADMITTED, State.ASSIGNED, State.DRAFTED)] == [
        2,
        2,
        8,
        3,
    ]
    assert ANSWER_DAYS == 15


@given(INSTANTS, st.integers(0, 40))
def test_a_stage_ends_with_the_answer_at_the_latest(filed: datetime, hours: int) -> None:
    since = filed + timedelta(hours=hours * 12)
    for state in (State.ASSIGNED, State.DRAFTED):
        due = policies.due(state, since=since, filed=filed, escalations=0)
        assert due is not None
        assert due <= workdays.after(filed, ANSWER_DAYS)
        late = policies.due(state, since=since, filed=filed, escalations=1)
        assert late == workdays.after(since, STAGES[state].days)


def test_whose_turn_it_is() -> None:
    assert policies.owner(State.FILED, escalations=0) is Owner.DECIDERS
    assert policies.owner(State.DRAFTED, escalations=0) is Owner.SECOND
    assert {policies.owner(state, escalations=1) for state in STAGES if state != State.RULED} == {
        Owner.OUTSIDE
    }
    assert policies.owner(State.RULED, escalations=2) is Owner.ENGINEERS


# --- working days -------------------------------------------------------------------------------------


def test_working_days_leave_out_weekends() -> None:
    friday = datetime(2026, 9, 4, 15, 30, tzinfo=UTC)
    assert workdays.after(friday, 1) == datetime(2026, 9, 7, 15, 30, tzinfo=UTC)
    assert workdays.after(friday, 0) == friday
    saturday = datetime(2026, 9, 5, 15, 30, tzinfo=UTC)
    assert workdays.after(saturday, 0) == datetime(2026, 9, 7, tzinfo=UTC)
    assert workdays.after(saturday, 5) == datetime(2026, 9, 14, tzinfo=UTC)
    with pytest.raises(ValueError, match="ahead"):
        workdays.after(friday, -1)


@given(INSTANTS, st.integers(0, 60), st.integers(0, 60))
def test_working_days_add_up(start: datetime, one: int, other: int) -> None:
    at = workdays.after(start, one)
    assert workdays.is_working(at)
    assert at >= start
    assert workdays.after(at, other) == workdays.after(start, one + other)
    begun = workdays.after(start, 0)
    between = [begun.date() + timedelta(days=n) for n in range(1, (at.date() - begun.date()).days + 1)]
    assert sum(day.weekday() < 5 for day in between) == one


# --- who may have a say -------------------------------------------------------------------------------


VENDOR, RIVAL, AUDITS = (uuid.uuid4() for _ in range(3))
PERSON = uuid.uuid4()
NOBODYS = Ties(PERSON, frozenset(), frozenset(), is_from_outside=False)
CASE = Concern(VENDOR, frozenset(), frozenset({VENDOR, RIVAL}), is_operators=False)


@pytest.mark.case("U23")
def test_who_is_bound_to_a_case_has_no_say() -> None:
    assert policies.conflict(NOBODYS, CASE) is None
    bound = replace(CASE, took_part=frozenset({PERSON}))
    assert policies.conflict(NOBODYS, bound) is Code.APPEAL_TOOK_PART
    for lineage, code in (
        (VENDOR, Code.APPEAL_OF_THE_VENDOR),
        (RIVAL, Code.APPEAL_OF_A_COMPETITOR),
        (AUDITS, None),
    ):
        assert policies.conflict(replace(NOBODYS, is_of=frozenset({lineage})), CASE) is code
        assert policies.conflict(replace(NOBODYS, was_of=frozenset({lineage})), CASE) is code
    operators = replace(CASE, is_operators=True)
    assert policies.conflict(NOBODYS, operators) is Code.APPEAL_OUTSIDE_NEEDED
    assert policies.conflict(replace(NOBODYS, is_from_outside=True), operators) is None


def test_what_a_ruling_may_order_fits_its_subject_and_outcome() -> None:
    assert policies.may_order("fault", Outcome.UPHELD, ["refund", "cooldown"])
    assert not policies.may_order("fault", Outcome.REJECTED, ["refund"])
    assert policies.may_order("score", Outcome.REJECTED, ["problem"])
    assert not policies.may_order("rule", Outcome.UPHELD, ["lift_hold"])
    assert not policies.may_order("fault", Outcome.INADMISSIBLE, [])
    for subject in Subject:
        for outcome in (Outcome.UPHELD, Outcome.PARTLY, Outcome.REJECTED):
            assert policies.may_order(subject, outcome, [])
            assert not policies.may_order(subject, outcome, [Effect.LINE]), "it comes by itself"


def test_what_counts_as_one_of_the_free_ones() -> None:
    assert policies.counts(state="filed", outcome="", was_admitted=False)
    assert not policies.counts(state="withdrawn", outcome="", was_admitted=False)
    assert policies.counts(state="withdrawn", outcome="", was_admitted=True)
    assert policies.counts(state="carried_out", outcome="rejected", was_admitted=True)
    assert policies.counts(state="inadmissible", outcome="inadmissible", was_admitted=False)
    assert not policies.counts(state="ruled", outcome="partly", was_admitted=True)
