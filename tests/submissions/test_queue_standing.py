"""What vendors are told of the queue: coarse, at most hourly, the same on page and API; and that nothing is lost."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from accounts.duties.table import Duty
from accounts.notices.models import Notice
from benchmark.models import TaskSetVersion
from config import clock
from evaluation import claims
from evaluation import services as evaluation
from evaluation.alerts import services as alerts
from evaluation.alerts.models import FleetAlert
from evaluation.alerts.queries import waiting
from evaluation.claims import Finish
from evaluation.fleet.models import Switch
from evaluation.fleet.services import pause, resume
from evaluation.models import Ending, EvaluationRun, WorkerReport
from submissions import services
from submissions.models import Harness, QueueStanding
from submissions.queueing.policies import Measured, expected, place
from tests.accounts.duties import opened
from tests.audit.test_log import Connect
from tests.factories import BY, frozen_version, recorded, run_of
from tests.pages.site import signed_in
from tests.submissions import outcomes, world

START = clock.now() + timedelta(hours=1)
HOUR = timedelta(hours=1)


def worker(queue: str, seen_at: datetime, *, passed: bool = True) -> None:
    WorkerReport.objects.update_or_create(
        worker=f"{queue}-{passed}",
        defaults={"queue": queue, "grade": "x", "passed": passed, "started_at": seen_at, "seen_at": seen_at},
    )


def fleet(at: datetime) -> None:
    for queue in ("execute", "grade"):
        worker(queue, at)


def took(begun: float, ended: float, admitted: float = 0.0) -> Measured:
    """An earlier submission, with hours after START."""
    return Measured(*(START + hours * HOUR for hours in (admitted, begun, ended)))


def test_places_are_told_in_four_steps() -> None:
    found = [place(ahead) for ahead in (0, 2, 3, 9, 10, 29, 30, 500)]
    assert found == ["1-3", "1-3", "4-10", "4-10", "11-30", "11-30", "over_30", "over_30"]


def test_times_follow_from_what_was_measured_and_from_how_many_share_the_workers() -> None:
    alone = [took(1, 3), took(11, 13, 10), took(21, 23, 20)]
    assert expected(alone[:2], under_way=1, age=0 * HOUR) == ("unknown", "unknown")
    assert expected(alone, under_way=1, age=0 * HOUR) == ("within_2_hours", "2_to_6_hours")
    assert expected(alone, under_way=4, age=0 * HOUR) == ("2_to_6_hours", "6_to_24_hours")
    assert expected(alone, under_way=4, age=11 * HOUR) == ("within_2_hours", "within_2_hours")
    assert expected(alone, under_way=100, age=0 * HOUR)[1] == "over_a_week"
    # Three at once took three times as long as one alone would.
    together = [took(3, 9), took(3, 9), took(3, 9)]
    assert expected(together, under_way=1, age=0 * HOUR) == expected(alone, under_way=1, age=0 * HOUR)


@pytest.mark.acceptance("fleet:1")
@pytest.mark.case("U1")
@pytest.mark.case("E30")
@pytest.mark.parametrize("silent", ["stopped", "never there", "unfit"])
def test_without_workers_page_and_api_say_so_within_a_minute(
    silent: str, vendor: world.Vendor, harness: Harness, task_set: TaskSetVersion
) -> None:
    with clock.frozen(START):
        if silent == "stopped":
            fleet(START)
        submission = vendor.submit(task_set, harness)
        other = world.vendor()
        other.submit(task_set, other.harness("rival"))
    with clock.frozen(START + timedelta(seconds=59)):
        if silent == "unfit":
            worker("execute", clock.now(), passed=False)
            worker("grade", clock.now())
        found = vendor.api.get(f"submissions/{submission.id}").body["queue"]
        page = signed_in(vendor.user).get(f"/en/v/submissions/{submission.id}/").content.decode()
        home = signed_in(vendor.user).get("/en/v/").content.decode()
        health = vendor.api.get("health").body
    assert (found["state"], found["place"], found["evaluation_paused"]) == ("queued", "1-3", True)
    assert found["oldest_wait_minutes"] == 0
    assert "Evaluation is paused" in page
    assert "Evaluation is paused" in home
    assert "among the first three" in page
    assert "rival" not in page
    assert health["status"] == "degraded"
    assert "execute" in health["queues_without_worker"]
    if silent == "stopped":
        assert found["evaluation_paused_since"].startswith(f"{START:%Y-%m-%dT%H:%M:%S}")
        assert "Paused since" in page


@pytest.mark.case("E30")
def test_queued_work_keeps_its_place_and_the_banner_goes_with_the_first_sign_of_life(
    vendor: world.Vendor, harness: Harness, task_set: TaskSetVersion
) -> None:
    path, later = "submissions/{}", START + timedelta(minutes=50)
    with clock.frozen(START):
        submission = vendor.submit(task_set, harness)
    with clock.frozen(later):
        before = vendor.api.get(path.format(submission.id)).body["queue"]
        fleet(later)
        after = vendor.api.get(path.format(submission.id)).body["queue"]
        assert vendor.api.get("health").body["status"] == "ok"
    assert before["evaluation_paused"]
    assert not after["evaluation_paused"]
    assert before["place"] == after["place"] == "1-3"


def test_a_pause_that_staff_ordered_is_told_as_one_and_wakes_nobody(
    vendor: world.Vendor, harness: Harness, task_set: TaskSetVersion
) -> None:
    with clock.frozen(START):
        fleet(START)
        submission = vendor.submit(task_set, harness)
        run_of(task_set)
        pause(Switch.EXECUTION, reason="the store is moved", by=BY)
        found = vendor.api.get(f"submissions/{submission.id}").body["queue"]
        page = signed_in(vendor.user).get(f"/en/v/submissions/{submission.id}/").content.decode()
        assert vendor.api.get("health").body["status"] == "degraded"
    assert (found["state"], found["evaluation_paused"]) == ("queued", True)
    assert "the operators paused it." in page
    assert "the store is moved" not in page
    with clock.frozen(START + 5 * HOUR):
        alerts.watch(by=BY)
        resume(Switch.EXECUTION, reason="done", by=BY)
        alerts.watch(by=BY)
    assert not FleetAlert.objects.exists()
    with clock.frozen(START + 6 * HOUR):
        alerts.watch(by=BY)
    assert FleetAlert.objects.filter(queue="execute").exists()


def test_nothing_of_the_queue_changes_within_an_hour(
    vendor: world.Vendor, harness: Harness, task_set: TaskSetVersion
) -> None:
    with clock.frozen(START):
        submissions = [world.vendor() for _ in range(3)]
        for other in submissions:
            other.submit(task_set, other.harness())
    with clock.frozen(START + timedelta(seconds=1)):
        submission = vendor.submit(task_set, harness)
        assert submission.standing.place == "4-10"
    with clock.frozen(START + timedelta(minutes=1)):
        for other in submissions:
            services.cancel(other.organisation.submissions.get().pk, by=other.actor)
    for minutes in (2, 30, 60):
        with clock.frozen(START + timedelta(minutes=minutes)):
            services.sweep()
            assert QueueStanding.objects.get(submission=submission).place == "4-10"
    with clock.frozen(START + timedelta(minutes=62)):
        services.sweep()
        assert QueueStanding.objects.get(submission=submission).place == "1-3"


def test_what_was_measured_of_others_is_told_as_a_range_only(
    vendor: world.Vendor, harness: Harness, task_set: TaskSetVersion
) -> None:
    for number in range(3):
        with clock.frozen(START + number * timedelta(days=1)):
            other = world.vendor()
            done = outcomes.bring_to(other.submit(task_set, other.harness()), "running")
        run = done.held_out_run
        assert run is not None
        with recorded(run):
            EvaluationRun.objects.filter(pk=run.pk).update(
                created_at=done.admitted_at + HOUR, executed_at=done.admitted_at + 3 * HOUR
            )
        with clock.frozen(done.admitted_at + 4 * HOUR):
            services.cancel(done.id, by=other.actor)
    with clock.frozen(START + timedelta(days=4)):
        submission = vendor.submit(task_set, harness)
        found = vendor.api.get(f"submissions/{submission.id}").body["queue"]
    assert (found["starts"], found["ends"]) == ("within_2_hours", "2_to_6_hours")


def test_who_waits_for_no_worker_is_told_nothing_of_the_queue(
    vendor: world.Vendor, harness: Harness, task_set: TaskSetVersion
) -> None:
    submission = vendor.submit(task_set, harness)
    services.cancel(submission.id, by=vendor.actor)
    assert vendor.api.get(f"submissions/{submission.id}").body["queue"] is None
    page = signed_in(vendor.user).get(f"/en/v/submissions/{submission.id}/").content.decode()
    assert "Evaluation is paused" not in page


def told(kind: str) -> list[Notice]:
    return list(Notice.objects.filter(kind=kind).select_related("person"))


@pytest.mark.acceptance("fleet:1")
@pytest.mark.case("G12")
@pytest.mark.case("E30")
@pytest.mark.django_db(transaction=True)
def test_operators_are_told_once_by_the_age_of_the_oldest(connect_as: Connect) -> None:
    def on_record() -> list[str]:
        query = "SELECT kind FROM audit_event WHERE subject_type = 'fleet_alert' ORDER BY id"
        return [row[0] for row in connect_as("auditor").execute(query).fetchall()]

    office = opened()
    engineer = office.holder(Duty.EVALUATION_ENGINEER)
    with clock.frozen(START):
        run = run_of(frozen_version("q.1", {"general": (1, 2)}))
    begun = run.created_at
    with clock.frozen(begun + timedelta(minutes=4)):
        alerts.watch(by=BY)
        assert not FleetAlert.objects.exists()
    for minutes in (6, 7, 60):
        with clock.frozen(begun + timedelta(minutes=minutes)):
            alerts.watch(by=BY)
    notice = told("fleet.waiting")
    assert [row.person for row in notice] == [engineer]
    assert notice[0].mail_due_at is not None
    assert (notice[0].facts["queue"], notice[0].facts["episodes"]) == ("execute", 2)
    assert on_record() == ["fleet_alert.raised"]
    with clock.frozen(begun + timedelta(minutes=61)):
        claims.claim_execution("w")
        alerts.watch(by=BY)
    assert on_record() == ["fleet_alert.raised", "fleet_alert.ended"]
    with clock.frozen(begun + timedelta(minutes=70)):
        alerts.watch(by=BY)
    assert len(told("fleet.waiting")) == 2, "another incident is told again"


def test_work_that_waits_for_grading_counts_from_the_oldest(db: Any) -> None:
    run_of(frozen_version("q.2", {"general": (1, 2)}))
    ended = []
    for minutes in (1, 30):
        claim = claims.claim_execution("w")
        assert claim is not None
        with clock.shifted(timedelta(minutes=minutes)):
            ended.append(clock.now())
            claims.finish_attempt(
                claim, Finish(ending=Ending.FINISHED, artefact_key="a", artefact_sha256="0"), by=BY
            )
    execute, grade = waiting()
    assert (execute.claimable, execute.since) == (0, None)
    assert grade.claimable == 2
    assert grade.since is not None
    assert abs(grade.since - ended[0]) < timedelta(minutes=1)


def test_a_run_that_is_repeated_begins_to_wait_anew(db: Any) -> None:
    """Its last attempt may be hours ago: that is no reason to wake anybody."""
    run = run_of(frozen_version("q.3", {"general": (1, 1)}))
    for _ in range(3):
        claim = claims.claim_execution("w")
        assert claim is not None
        claims.finish_attempt(claim, Finish(ending=Ending.INFRASTRUCTURE_FAULT, cause="x"), by=BY)
    evaluation.settle_run(run.id)
    run.refresh_from_db()
    with clock.shifted(timedelta(hours=6)):
        assert evaluation.rerun_missing(run, by=BY) == 1
        alerts.watch(by=BY)
    assert not FleetAlert.objects.exists()
