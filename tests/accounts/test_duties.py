"""Giving duties and taking them away: two people, dates, no conflict, and always two administrators."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from accounts import auditors
from accounts import services as accounts
from accounts.auditor_refusals import AuditorRefused
from accounts.duties import policies, queries, services
from accounts.duties.refusals import DutyRefused, Reason
from accounts.duties.table import Decision, Duty
from accounts.models import Organisation, User
from config import clock
from tests.accounts.duties import Office, acting, member_of_staff, opened
from tests.accounts.test_auditors import appointed
from tests.factories import saved
from tests.submissions import world

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)


def refused(act: Callable[[], object]) -> Reason:
    with pytest.raises(DutyRefused) as caught:
        act()
    assert caught.value.sentence
    return caught.value.reason


def test_the_first_two_confirm_each_other_and_nobody_is_named_so_again() -> None:
    one, two, three = (member_of_staff() for _ in range(3))
    until = clock.now() + 30 * DAY

    def held(first: User, second: User, **changes: Any) -> Any:
        return services.hold_ceremony(first, second, **({"until": until} | changes), by=world.BY)

    assert refused(lambda: held(one, one)) is Reason.ONE_PERSON
    assert refused(lambda: held(one, world.person())) is Reason.NOT_STAFF
    assert refused(lambda: held(one, two, until=clock.now() - DAY)) is Reason.DATES
    assert refused(lambda: held(one, two, until=clock.now() + 400 * DAY)) is Reason.TOO_LONG
    held(one, two)
    assert refused(lambda: held(one, three)) is Reason.BEGUN
    for person, other in ((one, two), (two, one)):
        assert queries.duties_of(person) == {Duty.ADMINISTRATOR}
        (row,) = person.duties.all()
        assert (row.assigned_by, row.confirmed_by) == (person, other)


def test_before_the_ceremony_nobody_gives_a_duty() -> None:
    office = Office(member_of_staff(), member_of_staff())
    assert refused(lambda: office.propose(member_of_staff(), Duty.ARBITER)) is Reason.NOT_BEGUN


def test_a_duty_is_held_once_another_has_confirmed_it_until_its_last_instant() -> None:
    office, person = opened(), member_of_staff()
    begins = clock.now() + DAY
    row = office.propose(person, Duty.ARBITER, begins_at=begins, ends_at=begins + 10 * DAY)
    with clock.frozen(begins):
        assert queries.duties_of(person) == frozenset()
    services.confirm(row, reason="yes", by=acting(office.second))
    for moved, holds in ((-1, False), (0, True), (10 * 86400 - 1, True), (10 * 86400, False)):
        with clock.frozen(begins + timedelta(seconds=moved)):
            assert (Duty.ARBITER in queries.duties_of(person)) is holds, moved
    assert row.review_due_at == begins + policies.REVIEW_EVERY


def test_each_step_needs_somebody_else_who_may() -> None:
    office, person = opened(), member_of_staff()
    row = office.propose(person, Duty.ARBITER)

    def confirmed(by: User, reason: str = "yes") -> None:
        services.confirm(row, reason=reason, by=acting(by))

    assert refused(lambda: confirmed(office.first)) is Reason.ONE_PERSON
    assert refused(lambda: confirmed(person)) is Reason.NOT_ADMINISTRATOR
    assert refused(lambda: confirmed(office.second, " ")) is Reason.NO_REASON
    assert refused(lambda: services.confirm(row, reason="x", by=world.BY)) is Reason.NOT_A_PERSON
    assert refused(lambda: services.review(row, reason="x", by=acting(office.second))) is Reason.NOT_CONFIRMED
    confirmed(office.second)
    assert refused(lambda: confirmed(office.second)) is Reason.IS_CONFIRMED


def test_nobody_confirms_or_reviews_what_they_hold() -> None:
    office, third = opened(), member_of_staff()
    office.give(third, Duty.ADMINISTRATOR)
    row = office.propose(third, Duty.IDENTITY_REVIEWER)
    assert refused(lambda: services.confirm(row, reason="me", by=acting(third))) is Reason.OWN
    services.confirm(row, reason="yes", by=acting(office.second))
    assert refused(lambda: services.review(row, reason="me", by=acting(third))) is Reason.OWN


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"ends_at": timedelta(0)}, Reason.DATES),
        ({"begins_at": -3 * DAY, "ends_at": -DAY}, Reason.DATES),
        ({"ends_at": 367 * DAY}, Reason.TOO_LONG),
        ({"reason": "  "}, Reason.NO_REASON),
        ({"duty": Duty.AUDITOR}, Reason.BY_TERM),
    ],
)
def test_a_proposal_has_dates_and_a_reason(changes: dict[str, Any], reason: Reason) -> None:
    office, now = opened(), clock.now()
    given: dict[str, Any] = {
        name: now + at if isinstance(at, timedelta) else at for name, at in changes.items()
    }
    duty = given.pop("duty", Duty.ARBITER)
    assert refused(
        lambda: office.propose(member_of_staff(), duty, begins_at=given.pop("begins_at", now), **given)
    ) is (reason)


def test_only_live_staff_hold_duties() -> None:
    office, person = opened(), member_of_staff()
    assert refused(lambda: office.propose(world.person(), Duty.ARBITER)) is Reason.NOT_STAFF
    office.give(person, Duty.ARBITER)
    accounts.suspend_user(person, by=world.BY)
    assert queries.duties_of(User.objects.get(pk=person.pk)) == frozenset()
    assert all(person not in (*taken.proposers, *taken.approvers) for taken in queries.decisions_now())


def test_a_conflict_is_told_before_anything_is_written_and_ends_with_the_other_duty() -> None:
    office, person = opened(), member_of_staff()
    held = office.give(person, Duty.TASK_AUTHOR)
    assert refused(lambda: office.propose(person, Duty.HELD_OUT_GOVERNOR)) is Reason.CONFLICT
    assert refused(lambda: office.propose(person, Duty.TASK_AUTHOR)) is Reason.HELD
    office.give(person, Duty.ARBITER, begins_at=held.ends_at, ends_at=held.ends_at + DAY)
    services.end(held, reason="another task", by=acting(office.first))
    assert queries.duties_of(person) == frozenset()
    office.give(person, Duty.HELD_OUT_GOVERNOR, ends_at=clock.now() + DAY)
    assert queries.duties_of(person) == {Duty.HELD_OUT_GOVERNOR}


def test_what_is_over_stays_over_and_a_proposal_can_be_withdrawn() -> None:
    office, person = opened(), member_of_staff()
    row = office.propose(person, Duty.ARBITER)
    assert refused(lambda: services.end(row, reason="", by=acting(office.first))) is Reason.NO_REASON
    assert refused(lambda: services.end(row, reason="x", by=acting(person))) is Reason.NOT_ADMINISTRATOR
    services.end(row, reason="a slip", by=acting(office.first))
    for act in (services.confirm, services.end, services.review):
        assert refused(lambda act=act: act(row, reason="x", by=acting(office.second))) is Reason.IS_OVER  # type: ignore[misc]


def test_a_review_puts_the_next_one_off() -> None:
    office, person = opened(), member_of_staff()
    row = office.give(person, Duty.ARBITER)
    later = clock.now() + policies.REVIEW_EVERY + timedelta(seconds=5)
    with clock.frozen(later):
        assert [line.state for line in queries.lines() if line.row == row] == ["due"]
        services.review(row, reason="still needed", by=acting(office.first))
        assert [line.state for line in queries.lines() if line.row == row] == ["held"]
    assert (row.reviewed_by, row.review_due_at) == (office.first, later + policies.REVIEW_EVERY)


def test_two_administrators_always_stay() -> None:
    office, third, fourth = opened(), member_of_staff(), member_of_staff()
    (mine,) = office.first.duties.all()
    end = lambda: services.end(mine, reason="leaves", by=acting(office.second))  # noqa: E731
    assert refused(end) is Reason.FEW_ADMINISTRATORS
    office.give(third, Duty.ADMINISTRATOR)
    accounts.suspend_user(third, by=world.BY)
    assert refused(end) is Reason.FEW_ADMINISTRATORS
    office.give(fourth, Duty.ADMINISTRATOR)
    end()
    assert queries.duties_of(office.first) == frozenset()


def test_members_of_whoever_can_submit_hold_nothing_that_sees_what_vendors_must_not() -> None:
    office, person = opened(), member_of_staff()
    vendor = world.vendor(verified=False).organisation
    proposed = office.propose(person, Duty.TASK_AUTHOR)
    accounts.add_member(vendor, person, "viewer", by=world.BY)
    confirm = lambda: services.confirm(proposed, reason="yes", by=acting(office.second))  # noqa: E731
    assert refused(confirm) is Reason.MEMBER
    for duty in (Duty.EVALUATION_ENGINEER, Duty.SCORING_MAINTAINER, Duty.HELD_OUT_GOVERNOR, Duty.ARBITER):
        assert refused(lambda duty=duty: office.propose(person, duty)) is Reason.MEMBER  # type: ignore[misc]
    office.give(person, Duty.ADMINISTRATOR)
    holder = office.holder(Duty.TASK_AUTHOR)
    joins = lambda: accounts.add_member(vendor, holder, "viewer", by=world.BY)  # noqa: E731
    assert refused(joins) is Reason.HOLDER
    assert refused(lambda: accounts.create_organisation("Mine", owner=holder, by=world.BY)) is Reason.HOLDER
    services.end(holder.duties.get(), reason="joins a vendor", by=acting(office.first))
    joins()


def test_auditors_hold_no_duty_and_holders_audit_nothing() -> None:
    office, term = opened(), appointed()
    User.objects.filter(pk=term.person.pk).update(is_staff=True)
    saved(User.objects.get(pk=term.person.pk))
    auditor = User.objects.get(pk=term.person.pk)
    assert refused(lambda: office.propose(auditor, Duty.ADMINISTRATOR)) is Reason.CONFLICT
    holder = office.holder(Duty.IDENTITY_REVIEWER)
    holder.is_staff = False
    saved(holder)
    organisation = auditors.mark_audit_organisation(world.vendor(verified=False).organisation, by=world.BY)
    with pytest.raises(AuditorRefused, match="auditor_holds_duty"):
        auditors.appoint(
            holder,
            organisation,
            begins_at=clock.now(),
            ends_at=clock.now() + DAY,
            scope="x",
            declaration="d" * 64,
            by=world.BY,
        )


def test_a_decision_takes_two_entitled_people_none_of_whom_it_is_about() -> None:
    office = opened()
    governors = [office.holder(Duty.HELD_OUT_GOVERNOR) for _ in range(2)]
    engineer = office.holder(Duty.EVALUATION_ENGINEER)

    def decide(decision: Decision, proposed: User, approved: User) -> None:
        queries.require(decision, proposed=acting(proposed), approved=acting(approved))

    decide(Decision.ROTATION, *governors)
    decide(Decision.QUOTA_GRANT, engineer, governors[0])
    assert refused(lambda: decide(Decision.ROTATION, engineer, governors[0])) is Reason.NOT_ENTITLED
    assert refused(lambda: decide(Decision.QUOTA_GRANT, governors[0], engineer)) is Reason.NOT_ENTITLED
    assert refused(lambda: decide(Decision.ROTATION, governors[0], governors[0])) is Reason.ONE_PERSON
    vendor = world.vendor().organisation
    accounts.add_member(vendor, office.first, "viewer", by=world.BY)

    def withheld(concerned: Organisation) -> None:
        people = {"proposed": acting(office.first), "approved": acting(office.second)}
        queries.require(Decision.WITHHOLDING, **people, concerned={concerned.lineage_id})

    assert refused(lambda: withheld(vendor)) is Reason.OWN_CASE
    withheld(world.vendor().organisation)


def test_nobody_verifies_an_organisation_of_their_own() -> None:
    person, waiting = member_of_staff(), world.vendor(verified=False).organisation
    accounts.add_member(waiting, person, "viewer", by=world.BY)
    by_command = accounts.actor_for(person, channel="command")
    assert refused(lambda: accounts.verify_organisation(waiting, by=by_command)) is Reason.OWN_CASE
    accounts.verify_organisation(waiting, by=accounts.actor_for(member_of_staff(), channel="command"))


def test_nobody_verifies_alone_on_a_page() -> None:
    waiting = world.vendor(verified=False).organisation
    alone = acting(member_of_staff())
    assert refused(lambda: accounts.verify_organisation(waiting, by=alone)) is Reason.ONE_PERSON
