"""The matrix: whatever is proposed, confirmed and ended, nobody ever holds two duties that exclude each other."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import combinations

import pytest
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accounts.duties import policies, services
from accounts.duties.models import DutyAssignment
from accounts.duties.policies import Span
from accounts.duties.refusals import WORDS, DutyRefused, Reason
from accounts.duties.smallest import satisfies, smallest_staff
from accounts.duties.table import (
    ASSIGNED,
    CONFLICTS,
    DECISIONS,
    DUTIES,
    KEPT_APART,
    KEPT_FROM_VENDORS,
    Decision,
    Duty,
    conflicting,
)
from accounts.models import User
from config import clock
from tests.accounts.duties import Office, acting, member_of_staff, opened

DAY = timedelta(days=1)


def test_everything_is_described_and_every_refusal_has_its_sentence() -> None:
    assert set(DUTIES) == set(Duty)
    assert set(DECISIONS) == set(Decision)
    assert set(WORDS) == set(Reason)
    assert all(len(both) == 2 and str(why) for both, why in CONFLICTS.items())


def test_the_four_duties_of_the_held_out_set_exclude_each_other_and_the_auditor_all() -> None:
    four = {Duty.TASK_AUTHOR, Duty.EVALUATION_ENGINEER, Duty.SCORING_MAINTAINER, Duty.HELD_OUT_GOVERNOR}
    assert all(conflicting(one, other) for one, other in combinations(four, 2))
    assert all(conflicting(Duty.AUDITOR, duty) for duty in ASSIGNED)
    # Who gives duties cannot give themselves sight of anything, and who rules on appeals made none of it.
    assert all(conflicting(Duty.ADMINISTRATOR, duty) for duty in {*four, Duty.ARBITER})
    assert all(conflicting(Duty.ARBITER, duty) for duty in four)


def test_whatever_sees_what_vendors_must_not_is_kept_from_their_members() -> None:
    assert {duty for duty in Duty if duty not in KEPT_APART} == {Duty.ADMINISTRATOR}
    assert not DUTIES[Duty.ADMINISTRATOR].sees & KEPT_FROM_VENDORS


def test_the_named_decisions_take_two_people() -> None:
    assert {"rotation", "retirement", "quota_grant", "unblinding", "policy_change"} <= set(Decision)
    alone = frozenset(Duty)
    for decision in Decision:
        assert not policies.can_be_taken(decision, [("one", alone)])
        assert policies.can_be_taken(decision, [("one", alone), ("two", alone)])


def test_the_smallest_staff_is_nine_and_nobody_of_it_can_go() -> None:
    staff = smallest_staff()
    assert len(staff) == 9
    assert satisfies(staff)
    for number in range(len(staff)):
        assert not satisfies([*staff[:number], *staff[number + 1 :]])
    assert not any(conflicting(one, other) for duties in staff for one, other in combinations(duties, 2))


steps = st.lists(
    st.tuples(
        st.integers(0, 1),
        st.sampled_from(ASSIGNED),
        st.integers(0, 12),
        st.integers(1, 8),
        st.sampled_from(["hold", "hold", "hold", "end"]),
    ),
    max_size=9,
)


@pytest.mark.django_db
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps)
def test_random_assignments_never_leave_a_conflicting_pair(
    given_steps: list[tuple[int, Duty, int, int, str]],
) -> None:
    point = transaction.savepoint()
    try:
        _tried(given_steps)
    finally:
        transaction.savepoint_rollback(point)


def _tried(given_steps: list[tuple[int, Duty, int, int, str]]) -> None:
    office, people = opened(), [member_of_staff(), member_of_staff()]
    now = clock.now()
    for who, duty, begins, days, act in given_steps:
        person = people[who]
        if act == "end":
            for row in person.duties.filter(ended_at=None, duty=duty.value):
                services.end(row, reason="x", by=acting(office.first))
            continue
        span = Span(duty, now + begins * DAY, now + (begins + days) * DAY)
        free = not any(_exclude(span, row.span) for row in _held_by(person))
        assert _given(office, person, span) is free
    for person in people:
        assert not any(_exclude(one.span, other.span) for one, other in combinations(_held_by(person), 2))


def _given(office: Office, person: User, span: Span) -> bool:
    try:
        office.give(person, span.duty, begins_at=span.begins, ends_at=span.ends)
    except DutyRefused:
        return False
    return True


def _held_by(person: User) -> list[DutyAssignment]:
    return list(DutyAssignment.objects.filter(person=person, confirmed_at__isnull=False))


def _exclude(one: Span, other: Span) -> bool:
    """By instants, not by the policy: on each day of the two, are both held?"""
    days: list[datetime] = sorted({one.begins, other.begins})
    together = any(one.at(day) and other.at(day) for day in days)
    return together and (one.duty is other.duty or conflicting(one.duty, other.duty))
