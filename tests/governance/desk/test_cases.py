"""Alarms of one lineage make one case; reviewers decide with reasons; the vendor is asked, never told on what."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import psycopg
import pytest

from accounts.duties.refusals import DutyRefused, Reason
from accounts.duties.table import Duty
from accounts.linking.models import LinkCase
from accounts.models import Organisation
from benchmark.models import TaskRevision
from config import clock
from governance.desk import cases, queries
from governance.desk.casework import Act
from governance.desk.models import Case, CaseQuestion, HoldOrder
from governance.rotation import services as rotation
from governance.rotation.models import RotationEntry
from submissions.models import Slot
from submissions.problems import Code, Refused
from tests.accounts.duties import acting
from tests.audit.test_log import Connect
from tests.factories import BY, recorded
from tests.governance.desk.arranged import MONDAY, REASON, Bench, again, alarm, hold_of
from tests.governance.desk.test_holds import differences
from tests.pages import site
from tests.submissions import world

pytestmark = pytest.mark.django_db(transaction=True)


def refused(act: Callable[[], Any]) -> Reason | Code:
    with pytest.raises((DutyRefused, Refused)) as caught:
        act()
    error = caught.value
    return error.reason if isinstance(error, DutyRefused) else error.refusal.code


def opened_case(desk: Bench) -> Case:
    """The case of one alarm about a held submission."""
    hold = desk.held()
    alarm(hold.submission)
    with clock.frozen(MONDAY):
        cases.group_alarms(by=BY)
    return Case.objects.get()


def test_tasks_of_a_case_wait_in_the_rotation_queue_once(desk: Bench) -> None:
    case = opened_case(desk)
    tasks = list(TaskRevision.objects.filter(version=desk.version, group="held_out").order_by("slug")[:3])
    finding = {"submission": "x", "p": 0.001, "explanation": 0.1, "tasks": [str(task.pk) for task in tasks]}
    alarm(desk.running(2), "review", "toggle", findings=[finding])
    rotation.propose(desk.version, tasks[0], cause="gate_bits", reason="", by=BY)
    with clock.frozen(MONDAY):
        cases.group_alarms(by=BY)
        for _ in range(2):
            cases.rotate(case.id, reason=REASON, by=acting(desk.one))
    entries = RotationEntry.objects.order_by("task__slug").values_list("task", "cause", "state")
    assert list(entries) == [
        (task.pk, cause, "queued") for task, cause in zip(tasks, ("gate_bits", "hand", "hand"), strict=True)
    ]
    case.refresh_from_db()
    assert case.state == "reviewing"


def decided(desk: Bench, case: Case, act: Act) -> Case:
    with clock.frozen(MONDAY):
        return cases.decide(case.id, act, reason=REASON, by=acting(desk.one))


def test_alarms_of_a_lineage_join_one_case_and_signals_open_none(desk: Bench) -> None:
    case = opened_case(desk)
    first = queries.alarms_of(case)[0]
    second = desk.running(2)
    alarm(second, "review", "toggle")
    alarm(second, "signal", "gap")
    other = world.vendor()
    alarm(other.submit(desk.version, other.harness("theirs")), "review")
    assert cases.group_alarms(by=BY) == 2
    assert cases.group_alarms(by=BY) == 0
    assert [row.channel for row in queries.alarms_of(case)] == [first.channel, "toggle"]
    assert Case.objects.count() == 2
    decided(desk, case, Act.SETTLE)
    alarm(second, "review", "dips")
    cases.group_alarms(by=BY)
    assert Case.objects.filter(lineage=case.lineage).count() == 2


def test_a_false_alarm_closes_the_case_and_lifts_the_hold(desk: Bench) -> None:
    case = opened_case(desk)
    with clock.frozen(MONDAY):
        cases.call_false_alarm(case.id, reason=REASON, by=acting(desk.one))
    found = queries.alarms_of(case)[0].submission
    assert (hold_of(found).state, again(found).slot.state) == ("lifted", Slot.State.REFUNDED)
    assert Case.objects.get().outcome == "false_alarm"
    assert list(queries.false_alarms()) == queries.alarms_of(case)
    assert queries.doubted(case.task_set) == set()


def test_watching_opens_anew_with_an_alarm_and_waiting_never_counts_against_the_vendor(desk: Bench) -> None:
    case = opened_case(desk)
    assert decided(desk, case, Act.WATCH).state == "watching"
    alarm(desk.running(2), "review", "toggle")
    with clock.frozen(MONDAY + timedelta(days=1)):
        cases.sweep(by=BY)
    row = Case.objects.get()
    assert row.state == "open"
    for _ in range(2):
        assert row.due_at is not None
        with clock.frozen(row.due_at):
            cases.sweep(by=BY)
        row.refresh_from_db()
    assert (row.state, row.outcome, row.due_at) == ("closed", "lapsed", None)


def test_a_hold_is_ordered_for_a_submission_of_the_lineage_that_is_under_way(desk: Bench) -> None:
    case, running, theirs = opened_case(desk), desk.running(2), world.vendor()
    foreign = theirs.submit(desk.version, theirs.harness("x"))
    hold = lambda row: cases.hold_next(case.id, row, reason=REASON, by=acting(desk.one))  # noqa: E731
    assert refused(lambda: hold(foreign)) is Code.CASE_NOT_THEIRS
    assert hold(running).state == "reviewing"
    assert HoldOrder.objects.get().submission_id == running.id


def test_links_are_handed_to_those_who_review_them(desk: Bench) -> None:
    case, other = opened_case(desk), world.vendor()
    cases.link(case.id, other.organisation.lineage, reason=REASON, by=acting(desk.one))
    found = LinkCase.objects.get()
    assert {found.first_id, found.second_id} == {case.lineage_id, other.organisation.lineage_id}
    assert found.state == "open"
    assert refused(lambda: cases.link(case.id, case.lineage, reason="x", by=acting(desk.one))) is (
        Code.CASE_NOT_THEIRS
    )


def asked(desk: Bench) -> CaseQuestion:
    case = opened_case(desk)
    submission = queries.alarms_of(case)[0].submission
    cases.ask(case.id, submission, "model", reason=REASON, by=acting(desk.one))
    return CaseQuestion.objects.get()


def test_the_vendor_is_asked_from_a_list_and_answers_once_on_its_page(desk: Bench) -> None:
    row, browser = asked(desk), site.signed_in(desk.vendor.user)
    path = site.address("desk:question", row.id)
    text = browser.get(path).content.decode()
    assert "Which models and endpoints answered" in text
    assert REASON not in text
    assert path in browser.get(site.address("submissions:submission", row.submission_id)).content.decode()
    empty = browser.post(path, {"answer": " "})
    assert (empty.status_code, "question_no_words" in empty.content.decode()) == (409, True)
    assert browser.post(path, {"answer": "Only model-a."}).status_code == 302
    assert b"cannot be changed" in browser.get(path).content
    assert browser.post(path, {"answer": "No, model-b."}).status_code == 409
    assert site.signed_in(world.vendor().user).get(path).status_code == 404
    row.refresh_from_db()
    assert row.answer == "Only model-a."
    cases.sweep(by=BY)
    assert Case.objects.get().state == "reviewing"


def test_who_decides_and_that_an_escalated_case_is_for_somebody_else(desk: Bench) -> None:
    case = opened_case(desk)
    engineer = desk.office.holder(Duty.EVALUATION_ENGINEER)
    take = lambda who, why="x": cases.decide(case.id, Act.TAKE, reason=why, by=acting(who))  # noqa: E731
    with clock.frozen(MONDAY):
        assert refused(lambda: take(engineer)) is Reason.NOT_ENTITLED
        assert refused(lambda: take(desk.one, " ")) is Reason.NO_REASON
        row = take(desk.one)
    assert row.due_at is not None
    with clock.frozen(row.due_at):
        cases.sweep(by=BY)
        assert Case.objects.get().state == "escalated"
        assert refused(lambda: take(desk.one)) is Reason.ONE_PERSON
        take(desk.two)
        cases.decide(case.id, Act.SETTLE, reason="x", by=acting(desk.two))
        assert refused(lambda: take(desk.one)) is Code.CASE_OVER


def test_a_case_of_the_operators_own_is_decided_by_an_arbiter(desk: Bench) -> None:
    case, arbiter = opened_case(desk), desk.office.holder(Duty.ARBITER)
    with recorded(desk.vendor.organisation):
        Organisation.objects.filter(pk=desk.vendor.organisation.pk).update(is_operator=True)
    settle = lambda who: cases.decide(case.id, Act.SETTLE, reason="x", by=acting(who))  # noqa: E731
    assert refused(lambda: settle(desk.one)) is Reason.NOT_ENTITLED
    assert settle(arbiter).state == "closed"


def test_the_log_tells_the_same_as_the_rows_of_cases(desk: Bench, connect_as: Connect) -> None:
    row = asked(desk)
    cases.answer(row, "Only model-a.", by=desk.vendor.actor)
    cases.sweep(by=BY)
    assert differences(connect_as) == []
    bodies = connect_as("auditor").execute("SELECT body FROM audit_event").fetchall()
    text = " ".join(bytes(body).decode() for (body,) in bodies)
    assert REASON not in text
    assert "model-a" not in json.dumps(text)


def test_no_process_near_vendors_reads_a_case(desk: Bench, connect_as: Connect) -> None:
    asked(desk)
    for secret in (
        *("id FROM desk_case", "case_id FROM desk_casealarm", "act FROM desk_casestep"),
        *("case_id FROM desk_casequestion", "answer FROM desk_casequestion"),
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connect_as("web").execute(f"SELECT {secret}")
