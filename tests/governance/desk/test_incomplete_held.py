"""A result that its vendor kept incomplete is held before its release where a rule asks for it, like any other."""

from __future__ import annotations

import pytest
from django.db import IntegrityError, transaction

from accounts.notices.models import Notice
from config import clock
from governance.desk import services
from governance.models import Release
from governance.services import release_result
from submissions.models import Slot, Submission
from submissions.problems import Code, Refused
from submissions.services import choose, conclude, move
from submissions.services.moves import locked
from tests.accounts.duties import acting
from tests.factories import BY
from tests.governance.desk.arranged import DUE, MONDAY, Bench, again, alarm, bench, hold_of, ticked
from tests.governance.desk.test_holds import TICK
from tests.governance.test_delivery import date_end, write_results
from tests.submissions.outcomes import lose

pytestmark = pytest.mark.django_db


@pytest.fixture
def desk(db: None) -> Bench:
    return bench()


def waiting(desk: Bench) -> Submission:
    """Some of its runs were lost, and its vendor has to choose."""
    found = desk.running()
    write_results(found, skip=3)
    assert found.held_out_run is not None
    lose(found.held_out_run, 3)
    date_end(found)
    with transaction.atomic():
        move(locked(found.id), "awaiting_choice", cause=Code.RUNS_LOST, by=BY)
    return again(found)


def kept(desk: Bench) -> Submission:
    found = waiting(desk)
    choose(found.id, "keep", by=desk.vendor.actor)
    return again(found)


def test_an_alarm_holds_it_and_it_goes_back_to_incomplete_with_its_bounds(desk: Bench) -> None:
    found = kept(desk)
    alarm(found)
    ticked(MONDAY)
    assert again(found).state == "held"
    assert again(found).ended_at is None
    assert hold_of(found).due_at == DUE
    assert not Release.objects.exists()
    assert desk.vendor.api.get(f"submissions/{found.id}/result").status == 409
    ticked(DUE + TICK)
    ticked(DUE + 2 * TICK)
    assert again(found).state == "incomplete"
    answer = desk.vendor.api.get(f"submissions/{found.id}/result")
    assert (answer.status, answer.body["complete"]) == (200, False)
    assert again(found).slot.state == Slot.State.CONSUMED
    kinds = Notice.objects.filter(person=desk.vendor.user).values_list("kind", flat=True)
    assert sorted(kind for kind in kinds if kind in ("submission.held", "submission.incomplete")) == [
        "submission.held",
        "submission.incomplete",
        "submission.incomplete",
    ]


def test_an_order_given_while_it_ran_holds_it_too(desk: Bench) -> None:
    found = desk.running()
    services.order_hold(found, reason="Look at it first.", by=acting(desk.one))
    write_results(found, skip=3)
    assert found.held_out_run is not None
    lose(found.held_out_run, 3)
    date_end(found)
    with transaction.atomic():
        move(locked(found.id), "awaiting_choice", cause=Code.RUNS_LOST, by=BY)
    choose(found.id, "keep", by=desk.vendor.actor)
    ticked(MONDAY)
    assert again(found).state == "held"


def test_without_a_rule_that_asks_it_is_released_at_once(desk: Bench) -> None:
    found = kept(desk)
    ticked(MONDAY)
    assert (again(found).state, Release.objects.count()) == ("incomplete", 1)


def test_what_is_released_is_held_no_more(desk: Bench) -> None:
    found = kept(desk)
    ticked(MONDAY)
    alarm(found)
    ticked(MONDAY + TICK)
    assert again(found).state == "incomplete"
    with pytest.raises(IntegrityError, match="before its release"), transaction.atomic():
        services.place_hold(found, rule="contrast", alarms=[], by=BY)


def test_two_people_void_it_and_nothing_is_ever_shown(desk: Bench) -> None:
    found = kept(desk)
    with clock.frozen(MONDAY):
        hold = services.place_hold(found, rule="contrast", alarms=[], by=BY)
    desk.decided(hold, "void", "probing")
    ticked(DUE + TICK)
    assert again(found).state == "voided"
    assert not Release.objects.exists()
    assert desk.vendor.api.get(f"submissions/{found.id}/result").status == 409


def test_a_part_is_never_complete_and_a_whole_never_incomplete(desk: Bench) -> None:
    found = kept(desk)
    with clock.frozen(MONDAY):
        services.place_hold(found, rule="contrast", alarms=[], by=BY)
    with pytest.raises(Refused, match="move_not_possible"):
        conclude(found, "complete", by=BY)
    with pytest.raises(IntegrityError, match="goes nowhere"), transaction.atomic():
        conclude(found, "incomplete", by=BY)
    with pytest.raises(Refused, match="move_not_possible"):
        conclude(desk.graded(2), "incomplete", by=BY)


def test_nothing_is_shown_before_the_choice(desk: Bench) -> None:
    """The choice is blind: until it is made neither the vendor nor the release sees a number."""
    found = waiting(desk)
    alarm(found)
    ticked(MONDAY)
    with clock.frozen(MONDAY + TICK):
        assert release_result(found, by=BY) is None
    assert not Release.objects.exists()
    api = desk.vendor.api
    assert api.get(f"submissions/{found.id}/result").status == 409
    shown = api.get(f"submissions/{found.id}").body
    assert (shown["state"], shown["progress"], shown["queue"]) == ("awaiting_choice", 75, None)
    assert not {"domains", "coverage", "missing"} & set(shown)
    assert "3" not in str(shown["outcome"]["facts"])
