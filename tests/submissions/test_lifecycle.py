"""From the check of the package to the end, and who pays at each."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import DatabaseError, connection, transaction

from benchmark.models import TaskSetVersion
from config import clock
from config.ids import new_id
from evaluation.models import EvaluationRun
from submissions import queries, services
from submissions.models import Harness, Slot, Submission, SubmissionTransition
from submissions.problems import Refused
from submissions.services.progress import advance, advance_run
from tests.submissions import outcomes, world
from tests.submissions.outcomes import bring_to, lose, public_results
from tests.submissions.world import Vendor

pytestmark = pytest.mark.django_db


@pytest.fixture
def submission(vendor: Vendor, harness: Harness, task_set: TaskSetVersion) -> Submission:
    return vendor.submit(task_set, harness)


def shown(vendor: Vendor, submission: Submission) -> dict:
    return vendor.api.get(f"submissions/{submission.id}").body


def test_the_straight_way(vendor: Vendor, submission: Submission) -> None:
    submission = bring_to(submission, "grading")
    services.conclude(submission, "complete", by=world.BY)
    body = shown(vendor, submission)
    states = ["created", "checking", "preflight", "queued", "running", "grading", "complete"]
    assert [moment["state"] for moment in body["timeline"]] == states
    assert body["progress"] == 100
    assert body["charge"]["state"] == "consumed"
    runs = EvaluationRun.objects.order_by("created_at").values_list("kind", "total", "runs_per_task")
    assert list(runs) == [("preflight", 8, 1), ("canary", 1, 1), ("held_out", 8, 1)]


def test_held_out_tasks_are_touched_only_after_the_slot_is_consumed(submission: Submission) -> None:
    submission = bring_to(submission, "queued")
    assert submission.slot.state == "reserved"
    assert not EvaluationRun.objects.filter(kind="held_out").exists()
    world.end_run(submission.canary_run)
    advance(submission.id)
    assert Slot.objects.get(submission=submission).state == "consumed"
    assert EvaluationRun.objects.filter(kind="held_out").count() == 1


PAYS = {
    "created": "refunded",
    "checking": "refunded",
    "preflight": "refunded",
    "queued": "refunded",
    "running": "consumed",
    "paused": "consumed",
    "grading": "consumed",
}


@pytest.mark.case("G2")
@pytest.mark.parametrize("state", PAYS)
def test_cancelled_in_each_state(state: str, vendor: Vendor, harness: Harness) -> None:
    task_set = world.task_set(profile="official", in_flight=2)
    submission = bring_to(vendor.submit(task_set, harness), state)
    promised = shown(vendor, submission)["charge"]["if_cancelled"]
    answer = vendor.api.post(f"submissions/{submission.id}/cancel")
    assert (answer.status, answer.body["state"]) == (200, "cancelled")
    charge = answer.body["charge"]
    kept = PAYS[state] == "consumed"
    assert (charge["state"], promised) == (PAYS[state], "kept" if kept else "returned")
    assert (charge["cooldown_until"] is not None) == kept
    window = queries.quota_window(harness, task_set, account=vendor.user.id)
    assert window is not None
    assert window.remaining == (2 if kept else 3)
    assert vendor.api.post(f"submissions/{submission.id}/cancel").status == 200
    advance(submission.id)
    assert not EvaluationRun.objects.filter(state__in=("executing", "grading")).exists()


@pytest.mark.case("G2")
@pytest.mark.parametrize("state", ["held", "complete"])
def test_what_cannot_be_cancelled_says_so(state: str, vendor: Vendor, submission: Submission) -> None:
    bring_to(submission, state)
    answer = vendor.api.post(f"submissions/{submission.id}/cancel")
    assert (answer.status, answer.code, answer.body["state"]) == (409, "move_not_possible", state)


@pytest.mark.parametrize(("crashed", "state"), [(0, "queued"), (1, "queued"), (2, "preflight_failed")])
def test_preflight_fails_for_crashes_only(
    crashed: int, state: str, vendor: Vendor, submission: Submission
) -> None:
    """8 runs: one silent crash is 12.5 %, two are 25 %. All others score low, which never matters."""
    submission = bring_to(submission, "preflight")
    assert submission.preflight_run is not None
    public_results(submission.preflight_run, crashed=crashed)
    assert advance(submission.id) == state
    body = shown(vendor, submission)
    if state == "preflight_failed":
        assert body["outcome"]["facts"] == {"crashed": 2, "total": 8}
        assert body["charge"]["counts"] is False
        assert body["outcome"]["fault"] == "harness"
    report = vendor.api.get(f"submissions/{submission.id}/preflight").body
    assert (report["done"], report["crashed"]) == (8, crashed)
    assert all(run["stdout"].startswith("log of ") for run in report["runs"])


def test_a_failed_canary_costs_nothing(vendor: Vendor, submission: Submission) -> None:
    submission = bring_to(submission, "queued")
    assert submission.canary_run is not None
    outcomes.crash_canary(submission.canary_run)
    assert advance(submission.id) == "preflight_failed"
    body = shown(vendor, submission)
    assert body["outcome"]["code"] == "canary_failed"
    assert body["charge"]["counts"] is False


@pytest.mark.case("G16")
def test_lost_runs_are_repeated_at_growing_distances_then_the_vendor_chooses(
    vendor: Vendor, submission: Submission
) -> None:
    submission = bring_to(submission, "running")
    run = submission.held_out_run
    assert run is not None
    lose(run, 3)
    assert advance(submission.id) == "running"
    run.refresh_from_db()
    assert run.state == "executing"
    lose(run, 1)
    advance(submission.id)
    run.refresh_from_db()
    assert run.state == "ended"
    with clock.shifted(timedelta(minutes=2)):
        advance(submission.id)
        run.refresh_from_db()
        assert run.state == "executing"
    lose(run, 1)
    with clock.shifted(timedelta(days=15)):
        assert advance(submission.id) == "awaiting_choice"
    assert shown(vendor, submission)["progress"] == 75


@pytest.mark.parametrize(
    ("choice", "state", "slot"), [("keep", "incomplete", "consumed"), ("void", "voided", "refunded")]
)
def test_the_blind_choice(choice: str, state: str, slot: str, vendor: Vendor, submission: Submission) -> None:
    submission = bring_to(submission, "grading")
    assert vendor.api.post(f"submissions/{submission.id}/choice", {"choice": choice}).status == 409
    assert submission.held_out_run is not None
    lose(submission.held_out_run, 1)
    services.conclude(submission, "awaiting_choice", by=world.BY)
    answer = vendor.api.post(f"submissions/{submission.id}/choice", {"choice": choice})
    assert (answer.status, answer.body["state"]) == (200, state)
    assert answer.body["charge"]["state"] == slot
    assert vendor.api.post(f"submissions/{submission.id}/choice", {"choice": "maybe"}).status == 422


@pytest.mark.case("E32")
def test_complete_only_with_a_complete_result_set(submission: Submission) -> None:
    submission = bring_to(submission, "grading")
    assert submission.held_out_run is not None
    lose(submission.held_out_run, 1)
    with pytest.raises(Refused):
        services.conclude(submission, "complete", by=world.BY)
    with pytest.raises(Refused):
        services.conclude(submission, "held", by=world.BY)


def test_a_void_after_review_keeps_or_returns_as_ruled(vendor: Vendor, harness: Harness) -> None:
    task_set = world.task_set(in_flight=9)
    kept, returned = (bring_to(vendor.submit(task_set, harness), "held") for _ in range(2))
    services.conclude(kept, "voided", by=world.BY)
    services.conclude(returned, "voided", by=world.BY, ruling="return")
    assert shown(vendor, kept)["charge"]["state"] == "consumed"
    assert shown(vendor, returned)["charge"]["state"] == "refunded"


DEADLINES = {
    "created": (timedelta(hours=24), "cancelled", "refunded"),
    "checking": (timedelta(minutes=15), "voided", "refunded"),
    "preflight": (timedelta(hours=12), "voided", "refunded"),
    "paused": (timedelta(days=14), "awaiting_choice", "consumed"),
}


@pytest.mark.case("G3")
@pytest.mark.case("G15")
@pytest.mark.case("E23")
@pytest.mark.parametrize("state", DEADLINES)
def test_the_reaper_moves_at_the_deadline_and_not_before(
    state: str, vendor: Vendor, submission: Submission
) -> None:
    stay, to, slot = DEADLINES[state]
    submission = bring_to(submission, state)
    with clock.frozen(submission.state_since + stay - timedelta(microseconds=1)):
        assert advance(submission.id) == state
    with clock.frozen(submission.state_since + stay):
        services.sweep()
    body = shown(vendor, submission)
    assert (body["state"], body["charge"]["state"]) == (to, slot)
    assert body["outcome"]["code"] == f"deadline_{state}"
    last = SubmissionTransition.objects.filter(submission=submission).order_by("id").last()
    assert last is not None
    assert last.actor_kind == "system"
    assert not EvaluationRun.objects.filter(state__in=("executing", "grading")).exists()


def test_a_result_that_is_whole_waits_for_its_release_however_long(submission: Submission) -> None:
    submission = bring_to(submission, "grading")
    with clock.shifted(timedelta(days=30)):
        assert advance(submission.id) == "grading"


@pytest.mark.case("G10")
@pytest.mark.case("E22")
def test_a_run_past_its_deadline_blocks_no_longer(vendor: Vendor, harness: Harness) -> None:
    task_set = world.task_set()
    submission = bring_to(vendor.submit(task_set, harness), "running")
    assert vendor.api.post("submissions", world.body_of(vendor.order(task_set, harness))).code == "in_flight"
    with clock.shifted(timedelta(days=20)):
        assert advance(submission.id) == "awaiting_choice"
        vendor.submit(task_set, harness)
    with clock.shifted(timedelta(days=35)):
        assert advance(submission.id) == "voided"


def test_a_pause_goes_on_where_it_was(submission: Submission) -> None:
    submission = bring_to(submission, "queued")
    services.pause(submission.id, by=world.BY)
    world.end_run(submission.canary_run)
    assert advance(submission.id) == "paused"
    services.resume(submission.id, by=world.BY)
    assert advance(submission.id) == "running"


@pytest.mark.case("G17")
@pytest.mark.case("E26")
def test_tickets_twice_late_or_for_nobody_change_nothing(submission: Submission) -> None:
    for _ in range(3):
        services.check(submission.id)
    assert EvaluationRun.objects.filter(kind="preflight").count() == 1
    submission.refresh_from_db()
    assert submission.preflight_run is not None
    public_results(submission.preflight_run)
    for _ in range(3):
        advance_run(submission.preflight_run.pk)
        advance(submission.id)
        services.check(submission.id)
    submission.refresh_from_db()
    assert submission.state == "queued"
    assert submission.canary_run is not None
    world.end_run(submission.canary_run)
    for _ in range(3):
        advance_run(submission.canary_run.pk)
    assert EvaluationRun.objects.filter(kind="held_out").count() == 1
    causes = list(SubmissionTransition.objects.values_list("state", flat=True).order_by("id"))
    assert causes == ["created", "checking", "preflight", "queued", "running"]
    advance_run(new_id())


def test_one_worker_has_the_package_in_hand_until_its_lease_ends(submission: Submission) -> None:
    first = services.begin_check(submission.id, by=world.BY)
    assert first is not None
    assert services.begin_check(submission.id, by=world.BY) is None
    with clock.shifted(timedelta(minutes=4)):
        second = services.begin_check(submission.id, by=world.BY)
        assert second is not None
        from submissions.intake import Finding
        from submissions.problems import Code

        services.finish_check(submission.id, first, Finding(Code.MANIFEST_MISSING), by=world.BY)
        submission.refresh_from_db()
        assert submission.state == "checking"
        services.finish_check(submission.id, second, Finding(Code.MANIFEST_MISSING), by=world.BY)
    submission.refresh_from_db()
    assert submission.state == "rejected"


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE submissions_submission SET state = 'complete', ended_at = now()",
        "UPDATE submissions_submission SET package_digest = 'x'",
        "UPDATE submissions_slot SET lineage_id = gen_random_uuid()",
        "UPDATE submissions_slot SET state = 'refunded'",
        "UPDATE submissions_harnessversion SET version = '9'",
        "DELETE FROM submissions_harnessversion",
        "DELETE FROM submissions_slot",
        "UPDATE submissions_submissiontransition SET state = 'complete'",
        "UPDATE submissions_quotapolicy SET value = 99",
        "UPDATE submissions_upload SET state = 'open'",
    ],
)
def test_the_database_refuses_it_too(statement: str, submission: Submission) -> None:
    with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)
