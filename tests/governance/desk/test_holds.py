"""A hold has a deadline, ends in a release unless two people decide otherwise before it, and costs nothing if wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest
from django.db import IntegrityError
from hypothesis import given
from hypothesis import strategies as st

from accounts.duties.refusals import DutyRefused, Reason
from accounts.duties.table import Duty
from accounts.models import Organisation, User
from accounts.notices.models import Notice
from audit.replay import Replay
from config import clock
from config.ids import new_id
from governance.desk import policies, services
from governance.desk.models import HoldDecision
from governance.desk.replay import LEDGERS
from governance.models import Release
from governance.services import release_held, release_result
from governance.tasks import tick
from submissions.models import Slot
from submissions.problems import Code, Refused
from submissions.services import conclude
from tests.accounts.duties import acting
from tests.audit.test_live import unguarded
from tests.audit.test_log import Connect
from tests.factories import BY, recorded
from tests.governance.desk.arranged import DUE, LAST, MONDAY, REASON, Bench, again, hold_of, ticked
from tests.governance.test_delivery import bring_on, write_results
from tests.servers import Servers

pytestmark = pytest.mark.django_db(transaction=True)
SECOND = timedelta(seconds=1)
TICK = timedelta(seconds=6)


def refused(act: Callable[[], Any]) -> Reason | Code:
    with pytest.raises((DutyRefused, Refused)) as caught:
        act()
    error = caught.value
    return error.reason if isinstance(error, DutyRefused) else error.refusal.code


instants = st.integers(0, 10**7).map(
    lambda minutes: datetime(2020, 1, 1, tzinfo=UTC) + timedelta(minutes=minutes)
)


@given(instants, st.integers(1, 30))
def test_working_days_are_counted_one_by_one(instant: datetime, days: int) -> None:
    end = policies.working_days_after(instant, days)
    passed = [instant + timedelta(days=n) for n in range(1, (end - instant).days + 1)]
    assert sum(day.weekday() < 5 for day in passed) == days
    assert (end - instant) % timedelta(days=1) == timedelta(0)
    assert end.weekday() < 5


def test_ten_working_days_over_two_weekends() -> None:
    assert policies.hold_due(MONDAY) == DUE
    friday = MONDAY + timedelta(days=4)
    assert policies.working_days_after(friday, 1) == friday + timedelta(days=3)
    assert policies.working_days_after(friday + timedelta(days=1), 1) == friday + timedelta(days=3)


@pytest.mark.case("U20")
def test_a_held_result_shows_nothing_until_its_deadline_then_it_is_released(desk: Bench) -> None:
    hold = desk.held()
    found = hold.submission
    assert again(found).state == "held"
    assert (hold.due_at, hold.state) == (DUE, "active")
    ticked(DUE - SECOND)
    assert not Release.objects.exists()
    ticked(DUE + TICK)
    ended = hold_of(found)
    assert (ended.state, ended.why, ended.ended_by) == ("released", "deadline", None)
    ticked(DUE + 2 * TICK)
    assert again(found).state == "complete"
    assert desk.vendor.api.get(f"submissions/{found.id}/result").status == 200
    assert again(found).slot.state == Slot.State.CONSUMED


def test_two_governors_extend_it_once_and_then_it_is_released_all_the_same(desk: Bench) -> None:
    hold = desk.held()
    desk.decided(hold, "extend")
    extended = hold_of(hold.submission)
    assert (extended.state, extended.until) == ("extended", LAST)
    with clock.frozen(MONDAY):
        again_ = lambda: services.propose(hold.submission, "extend", reason="x", by=acting(desk.one))  # noqa: E731
        assert refused(again_) is Code.HOLD_OVER
    ticked(DUE + TICK)
    assert again(hold.submission).state == "held"
    ticked(LAST)
    ticked(LAST + TICK)
    assert again(hold.submission).state == "complete"
    assert Notice.objects.filter(person=desk.vendor.user, kind="submission.hold_extended").count() == 1


def test_two_people_void_it_before_the_deadline_and_nothing_is_ever_shown(desk: Bench) -> None:
    hold = desk.held()
    desk.decided(hold, "void", "probing", at=DUE - SECOND)
    found = again(hold.submission)
    assert (found.state, found.reason_code, found.reason_facts) == (
        "voided",
        Code.VOIDED_AFTER_REVIEW,
        {"ground": "probing"},
    )
    assert found.slot.state == Slot.State.CONSUMED
    ticked(LAST)
    assert not Release.objects.exists()


def test_after_the_deadline_nobody_decides_any_more(desk: Bench) -> None:
    hold = desk.held()
    with clock.frozen(MONDAY):
        row = services.propose(hold.submission, "void", ground="probing", reason=REASON, by=acting(desk.one))
    with clock.frozen(DUE):
        assert refused(lambda: services.approve(row.id, by=acting(desk.two))) is Code.HOLD_OVER
        assert refused(lambda: services.lift_hold(hold.submission, reason="x", by=acting(desk.two))) is (
            Code.HOLD_OVER
        )
    ticked(DUE + TICK)
    ticked(DUE + 2 * TICK)
    assert again(hold.submission).state == "complete"


def test_a_false_alarm_returns_the_use_and_ends_the_cooldown(desk: Bench) -> None:
    hold = desk.held()
    with recorded(again(hold.submission)):
        type(hold.submission).objects.filter(pk=hold.submission_id).update(cooldown_until=LAST)
    with clock.frozen(MONDAY):
        services.lift_hold(hold.submission, reason="Explained by a fix.", by=acting(desk.one))
    found = again(hold.submission)
    assert found.slot.state == Slot.State.REFUNDED
    assert found.cooldown_ended_at == MONDAY
    assert not Release.objects.exists()
    ticked(MONDAY + TICK)
    assert again(found).state == "complete"
    assert Notice.objects.filter(person=desk.vendor.user, kind="submission.hold_lifted").count() == 1


def test_a_review_that_ends_early_releases_and_keeps_the_use_counted(desk: Bench) -> None:
    hold = desk.held()
    with clock.frozen(MONDAY):
        services.release_early(hold.submission, reason="Known already.", by=acting(desk.one))
    ticked(MONDAY + TICK)
    found = again(hold.submission)
    assert (found.state, found.slot.state) == ("complete", Slot.State.CONSUMED)


def test_a_governor_orders_a_hold_that_begins_with_the_release(desk: Bench) -> None:
    found = desk.running()
    services.order_hold(found, reason=REASON, by=acting(desk.one))
    assert refused(lambda: services.order_hold(found, reason=REASON, by=acting(desk.two))) is (
        Code.HOLD_NOT_POSSIBLE
    )
    write_results(found)
    bring_on(found)
    with clock.shifted(TICK):
        tick()
    hold = hold_of(found)
    assert (hold.rule, hold.placed_by, again(found).state) == ("ordered", desk.one, "held")
    # Whoever ordered it cannot lift it: that would be a use returned by one person.
    lift = lambda who: services.lift_hold(found, reason="x", by=acting(who))  # noqa: E731
    assert refused(lambda: lift(desk.one)) is Reason.ONE_PERSON
    lift(desk.two)
    assert again(found).slot.state == Slot.State.REFUNDED


def test_who_may_decide(desk: Bench) -> None:
    hold = desk.held()
    engineer = desk.office.holder(Duty.EVALUATION_ENGINEER)

    def propose(by: User, reason: str = "x") -> HoldDecision:
        return services.propose(hold.submission, "extend", reason=reason, by=acting(by))

    with clock.frozen(MONDAY):
        assert refused(lambda: propose(engineer)) is Reason.NOT_ENTITLED
        assert refused(lambda: propose(desk.one, " ")) is Reason.NO_REASON
        row = propose(desk.one)
        assert refused(lambda: propose(desk.two)) is Code.HOLD_DECISION_OPEN
        assert refused(lambda: services.approve(row.id, by=acting(desk.one))) is Reason.ONE_PERSON
        assert refused(lambda: services.approve(row.id, by=acting(engineer))) is Reason.NOT_ENTITLED
        services.withdraw(row.id, by=acting(desk.two))
        assert refused(lambda: services.approve(row.id, by=acting(desk.two))) is Reason.IS_OVER
        propose(desk.two)
        for act in (services.lift_hold, services.release_early):
            assert refused(lambda act=act: act(hold.submission, reason="x", by=acting(engineer))) is (
                Reason.NOT_ENTITLED
            )
    assert hold_of(hold.submission).state == "active"


@pytest.mark.parametrize("move", ["complete", "voided"])
def test_the_database_lets_nothing_that_is_held_go_while_the_hold_lasts(desk: Bench, move: str) -> None:
    hold = desk.held()
    with pytest.raises(IntegrityError, match="goes nowhere before its hold has ended"):
        conclude(hold.submission, move, by=BY)
    with pytest.raises(IntegrityError, match="goes nowhere"), clock.shifted(TICK):
        release_held(hold.submission, over_at=clock.now() - TICK, by=BY)
    with clock.shifted(TICK):
        assert release_result(hold.submission, by=BY) is None
    assert again(hold.submission).state == "held"


CHEATS = {
    "voided by one": "UPDATE desk_hold SET state = 'voided', ended_at = now(), why = 'two_people'",
    "extended by one": "UPDATE desk_hold SET state = 'extended', extended_until = due_at + interval '9 days'",
    "another deadline": "UPDATE desk_hold SET due_at = due_at + interval '9 days'",
    "gone": "DELETE FROM desk_hold",
    "approved by who proposed": "UPDATE desk_holddecision SET approved_by = proposed_by, approved_at = now()",
    "another ground": "UPDATE desk_holddecision SET ground = 'card'",
}


@pytest.mark.parametrize("cheat", CHEATS)
def test_the_database_refuses_what_no_service_does(desk: Bench, connect_as: Connect, cheat: str) -> None:
    hold = desk.held()
    with clock.frozen(MONDAY):
        services.propose(hold.submission, "void", ground="probing", reason=REASON, by=acting(desk.one))
    with pytest.raises(psycopg.errors.IntegrityError) as error:
        connect_as("owner").execute(CHEATS[cheat])
    assert "has no audit event" not in str(error.value)


def test_a_ruling_ends_it_either_way(desk: Bench) -> None:
    hold, ruling = desk.held(), new_id()
    with clock.frozen(MONDAY):
        services.lift_as_ruled(hold.submission, ruling=ruling, by=BY)
    ended = hold_of(hold.submission)
    assert (ended.state, ended.why, ended.ruling) == ("lifted", "ruling", ruling)


def test_the_log_tells_the_same_as_the_rows(desk: Bench, connect_as: Connect, servers: Servers) -> None:
    hold = desk.held()
    desk.decided(hold, "extend")
    desk.decided(hold, "void", "memorised")
    assert hold_of(hold.submission).state == "voided"
    assert differences(connect_as) == []
    with unguarded(servers, "desk_holddecision") as root:
        root.execute("UPDATE desk_holddecision SET ground = 'card' WHERE kind = 'void'")
    assert any("desk_holddecision: " in found for found in differences(connect_as))


def differences(connect_as: Connect) -> list[str]:
    replay = Replay(LEDGERS)
    rows = connect_as("auditor").execute("SELECT body FROM audit_event ORDER BY id").fetchall()
    for (body,) in rows:
        assert replay.see(json.loads(bytes(body)), None) == []

    def run(query: str) -> list[Any]:
        return connect_as("auditor").execute(query).fetchall()

    return [f"{found.table}: {found.what}" for found in replay.differences(run)]


def test_what_each_role_reads(desk: Bench, connect_as: Connect) -> None:
    desk.held()
    told = "SELECT rule, state, due_at, extended_until, ground FROM desk_hold"
    assert connect_as("web").execute(told).fetchall()
    secrets = "placed_by FROM desk_hold", "ordered_by FROM desk_holdorder", "kind FROM desk_holddecision"
    for secret in secrets:
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connect_as("web").execute(f"SELECT {secret}")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        connect_as("auditor").execute("SELECT reason FROM desk_holddecision")


def test_the_operators_own_case_takes_an_arbiter(desk: Bench) -> None:
    hold = desk.held()
    with recorded(desk.vendor.organisation):
        Organisation.objects.filter(pk=desk.vendor.organisation.pk).update(is_operator=True)
    found, arbiter = again(hold.submission), desk.office.holder(Duty.ARBITER)
    with clock.frozen(MONDAY):
        row = services.propose(found, "extend", reason=REASON, by=acting(desk.one))
        assert refused(lambda: services.approve(row.id, by=acting(desk.two))) is Reason.NOT_ENTITLED
        assert refused(lambda: services.lift_hold(found, reason="x", by=acting(desk.two))) is (
            Reason.NOT_ENTITLED
        )
        services.approve(row.id, by=acting(arbiter))
    assert hold_of(found).state == "extended"
