"""The pure rules of counting: what is shown is what decides, for any history."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from submissions.policies import PREFLIGHT_WINDOW, Ledger, Rule, Terms, Usage, window
from submissions.policies.quota import REFUSALS
from submissions.policies.states import ENDS, IN_FLIGHT, MOVES, SlotEffect, may_move, slot_effect

NOW = datetime(2026, 11, 30, 12, 0, 0, 123456, tzinfo=UTC)
TICK = timedelta(microseconds=1)
TERMS = Terms("official", 3, 5, 3, 1, 3, 7 * 24 * 3600, 3)


def ledger(**changes: object) -> Ledger:
    base: dict[str, object] = {
        "line": Usage(),
        "lineage": Usage(),
        "account": Usage(),
        "in_flight": 0,
        "attempts": [],
        "preflights": 0,
        "cooldown_until": None,
    }
    return Ledger(**(base | changes))  # type: ignore[arg-type]


@pytest.mark.case("E6")
def test_a_cooldown_ends_at_its_instant_and_not_one_tick_before() -> None:
    until = NOW + timedelta(days=7)
    facts = ledger(cooldown_until=until)
    before = window(TERMS, facts, until - TICK)
    assert before.biting is not None
    assert before.biting.rule is Rule.COOLDOWN
    assert before.next_allowed_at == until
    assert window(TERMS, facts, until).biting is None


@pytest.mark.case("E6")
def test_the_preflight_window_lets_go_at_its_instant() -> None:
    attempts = [NOW - timedelta(days=3), NOW - timedelta(days=2), NOW - timedelta(days=1)]
    facts = ledger(attempts=attempts)
    found = window(TERMS, facts, NOW)
    assert found.next_allowed_at == attempts[0] + PREFLIGHT_WINDOW
    assert window(TERMS, facts, found.next_allowed_at - TICK).biting is not None
    assert window(TERMS, facts, found.next_allowed_at).biting is None


@pytest.mark.case("E16")
@pytest.mark.parametrize(
    ("facts", "rule", "used", "limit"),
    [
        ({"line": Usage(reserved=1, consumed=2)}, Rule.LINE, 3, 3),
        ({"lineage": Usage(consumed=5)}, Rule.LINEAGE, 5, 5),
        ({"account": Usage(consumed=3, refunded=4)}, Rule.ACCOUNT, 3, 3),
        ({"in_flight": 1}, Rule.IN_FLIGHT, 1, 1),
        ({"attempts": [NOW] * 3}, Rule.PREFLIGHT, 3, 3),
        ({"cooldown_until": NOW + TICK}, Rule.COOLDOWN, 1, 1),
        ({"line": Usage(consumed=3), "cooldown_until": NOW + TICK}, Rule.LINE, 3, 3),
        ({"in_flight": 1, "attempts": [NOW] * 3}, Rule.IN_FLIGHT, 1, 1),
    ],
)
def test_a_refusal_has_the_numbers_of_its_rule(
    facts: dict[str, object], rule: Rule, used: int, limit: int
) -> None:
    refusal = window(TERMS, ledger(**facts), NOW).refusal()
    assert refusal is not None
    assert refusal.code == REFUSALS[rule]
    assert (refusal.facts["used"], refusal.facts["limit"]) == (used, limit)
    assert (refusal.next_allowed_at is None) != (refusal.next_allowed_reason is None)


USAGES = st.builds(Usage, st.integers(0, 6), st.integers(0, 6), st.integers(0, 6))
AGES = st.timedeltas(timedelta(days=-9), timedelta(days=8))
LEDGERS = st.builds(
    Ledger,
    line=USAGES,
    lineage=USAGES,
    account=st.none() | USAGES,
    in_flight=st.integers(0, 3),
    attempts=st.lists(AGES.map(lambda age: NOW + min(age, timedelta(0))), max_size=8),
    cooldown_until=st.none() | AGES.map(lambda age: NOW + age),
)
LIMITS = st.integers(0, 6)
TERM_SETS = st.builds(
    Terms, st.just("demo"), LIMITS, LIMITS, LIMITS, LIMITS, LIMITS, st.integers(0, 10**6), st.just(1)
)


@pytest.mark.case("E8")
@given(TERM_SETS, LEDGERS)
def test_the_promised_instant_works_and_not_one_tick_before(terms: Terms, facts: Ledger) -> None:
    found = window(terms, facts, NOW)
    if found.biting is None:
        assert found.refusal() is None
        return
    refusal = found.refusal()
    assert refusal is not None
    if refusal.next_allowed_at is None:
        assert refusal.next_allowed_reason is not None
        return
    assert refusal.next_allowed_at > NOW
    assert window(terms, facts, refusal.next_allowed_at).biting is None
    assert window(terms, facts, refusal.next_allowed_at - TICK).biting is not None


@pytest.mark.case("E9")
@given(TERM_SETS, LEDGERS)
def test_counters_agree_with_one_another_and_with_the_decision(terms: Terms, facts: Ledger) -> None:
    found = window(terms, facts, NOW)
    for counter in found.counters:
        assert counter.remaining == max(counter.limit - counter.used, 0)
        assert counter.bites == (counter.remaining == 0)
    assert (found.refusal() is None) == (
        all(counter.remaining > 0 for counter in found.counters) and not found.cooldown.bites
    )
    slots = [c for c in found.counters if c.rule in (Rule.LINE, Rule.LINEAGE, Rule.ACCOUNT)]
    assert all(counter.used == counter.reserved + counter.consumed for counter in slots)
    assert found.remaining == min(counter.remaining for counter in slots)
    assert len(slots) == (2 if facts.account is None else 3)


def test_every_end_is_reachable_and_final() -> None:
    reached = {to for targets in MOVES.values() for to in targets}
    assert reached >= ENDS
    assert ENDS & set(MOVES) == {"incomplete"}, "what was kept incomplete may be held before its release"
    assert MOVES["incomplete"] == ("held",)
    assert set(MOVES) >= IN_FLIGHT


@pytest.mark.case("G2")
def test_who_pays_before_and_after_held_out_tasks_start() -> None:
    for state, targets in MOVES.items():
        for to in targets:
            reserved, consumed = slot_effect(state, to, "reserved"), slot_effect(state, to, "consumed")
            if to == "running" and state == "queued":
                assert reserved is SlotEffect.CONSUME
            elif to in ENDS:
                assert reserved is SlotEffect.RETURN
                assert (consumed is SlotEffect.RETURN) == (to == "voided" and state != "held")
            else:
                assert {reserved, consumed} == {SlotEffect.NONE}


def test_a_pause_ends_where_it_began() -> None:
    assert may_move("paused", "running", paused_from="running")
    assert not may_move("paused", "running", paused_from="queued")
    assert may_move("paused", "cancelled", paused_from="queued")
