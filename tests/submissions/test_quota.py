"""Quota and cooldown as page and API show them, and as a submit decides."""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import Any

import pytest

from benchmark.models import TaskSetVersion
from config import clock
from submissions import queries, services
from submissions.models import Harness, Slot, Submission
from submissions.problems import Refused
from tests.factories import frozen_version
from tests.submissions import world
from tests.submissions.world import Answer, Vendor

pytestmark = pytest.mark.django_db


def post(vendor: Vendor, task_set: TaskSetVersion, harness: Harness) -> Answer:
    return vendor.api.post("submissions", world.body_of(vendor.order(task_set, harness)))


def counters(answer: Answer, task_set: TaskSetVersion, harness: Harness) -> dict[str, dict[str, Any]]:
    of_set = next(row for row in answer.body["task_sets"] if row["task_set"] == task_set.label)
    row = next(row for row in of_set["harnesses"] if row["harness"] == str(harness.id))
    return {counter["counter"]: counter for counter in row["counters"]} | {"window": row}


def reject(submission: Submission) -> None:
    """Intake refuses it: the use is returned, the attempt stays counted."""
    lease = services.begin_check(submission.id, by=world.BY)
    assert lease is not None
    from submissions.intake import Finding
    from submissions.problems import Code

    services.finish_check(submission.id, lease, Finding(Code.MANIFEST_MISSING), by=world.BY)


@pytest.mark.case("G7")
def test_a_set_without_a_policy_is_a_matter_of_entitlement(vendor: Vendor, harness: Harness) -> None:
    closed = world.task_set("closed")
    services.close_task_set(closed, by=world.BY)
    for task_set in (frozen_version("no-policy"), closed):
        answer = post(vendor, task_set, harness)
        assert (answer.status, answer.code) == (403, "not_entitled")
        assert answer.body["next_allowed_at"] is None
        assert answer.body["next_allowed_reason"] == "not_a_matter_of_time"
    assert not Slot.objects.exists()


@pytest.mark.case("G7")
@pytest.mark.case("G9")
def test_the_listing_shows_every_set_before_anything_was_submitted(vendor: Vendor, harness: Harness) -> None:
    sets = [world.task_set("t1", profile="official"), world.task_set("t2")]
    answer = vendor.api.get("quota")
    for task_set in sets:
        found = counters(answer, task_set, harness)
        assert {name: found[name]["limit"] for name in found if name != "window"} == {
            "line": 3,
            "lineage": 5,
            "account": 3,
            "in_flight": 1,
            "preflight": 3 if task_set.label == "t1" else 20,
        }
        assert all(found[name]["used"] == 0 for name in ("line", "lineage", "account"))
        assert found["window"]["allowed"] is True
        assert found["window"]["cooldown"]["until"] is None
    assert {row["task_set"]: row["policy"]["cooldown_seconds"] for row in answer.body["task_sets"]} == {
        "t1": 7 * 24 * 3600,
        "t2": 0,
    }
    assert {"code", "what", "slot", "cooldown"} == set(answer.body["who_pays"][0])


@pytest.mark.case("E7")
@pytest.mark.case("E16")
def test_a_refusal_names_its_rule_and_an_instant_that_works(vendor: Vendor, harness: Harness) -> None:
    task_set = world.task_set(profile="official")
    first = vendor.submit(task_set, harness)
    busy = post(vendor, task_set, harness)
    assert (busy.status, busy.code) == (429, "in_flight")
    assert busy.body["next_allowed_at"] is None
    assert busy.body["next_allowed_reason"] == "when_the_submission_in_flight_ends"
    consume(first)
    services.cancel(first.id, by=vendor.actor)
    cooling = post(vendor, task_set, harness)
    assert (cooling.status, cooling.code) == (429, "cooldown")
    until = first.admitted_at + timedelta(days=7)
    assert cooling.body["next_allowed_at"] == until.isoformat()
    assert cooling.body["counter"] == "cooldown"
    assert int(cooling.headers["Retry-After"]) >= 7 * 24 * 3600 - 60
    with clock.frozen(until - timedelta(microseconds=1)):
        order = vendor.order(task_set, harness)
        with pytest.raises(Refused):
            services.submit(order, by=vendor.actor, key="a")
    with clock.frozen(until):
        assert services.submit(order, by=vendor.actor, key="b").status == 202


def consume(submission: Submission) -> None:
    """Let it reach `running`, where its use is counted."""
    services.check(submission.id)
    submission.refresh_from_db()
    world.end_run(submission.preflight_run)
    services.advance(submission.id)
    submission.refresh_from_db()
    world.end_run(submission.canary_run)
    assert services.advance(submission.id) == "running"


@pytest.mark.case("G4")
@pytest.mark.case("G5")
@pytest.mark.case("E4")
def test_attempts_have_a_ceiling_of_their_own(vendor: Vendor, harness: Harness) -> None:
    task_set = world.task_set(profile="official")
    for _ in range(3):
        reject(vendor.submit(task_set, harness))
    found = counters(vendor.api.get("quota"), task_set, harness)
    assert (found["line"]["used"], found["line"]["refunded"]) == (0, 3)
    assert (found["preflight"]["used"], found["preflight"]["bites"]) == (3, True)
    answer = post(vendor, task_set, harness)
    assert (answer.status, answer.code) == (429, "preflight_ceiling")
    first = Submission.objects.order_by("id").first()
    assert first is not None
    assert answer.body["next_allowed_at"] == (first.admitted_at + timedelta(days=7)).isoformat()


@pytest.mark.case("E1")
def test_the_statements_add_up_to_the_shown_usage(vendor: Vendor, harness: Harness) -> None:
    task_set = world.task_set(in_flight=9, preflight=9, line=9, lineage=9, account=9)
    made = [vendor.submit(task_set, harness) for _ in range(4)]
    consume(made[0])
    reject(made[1])
    services.cancel(made[2].id, by=vendor.actor)
    charges = [vendor.api.get(f"submissions/{row.id}").body["charge"] for row in made]
    assert [charge["state"] for charge in charges] == ["consumed", "refunded", "refunded", "reserved"]
    assert all(charge["words"] for charge in charges)
    found = counters(vendor.api.get("quota"), task_set, harness)
    assert found["line"]["used"] == sum(charge["counts"] for charge in charges) == 2
    assert found["account"]["used"] == found["lineage"]["used"] == 2


@pytest.mark.case("E3")
@pytest.mark.case("E5")
def test_staff_return_one_use_with_a_reason_and_only_once(vendor: Vendor, harness: Harness) -> None:
    task_set = world.task_set()
    submission = vendor.submit(task_set, harness)
    consume(submission)
    services.refund(submission, cause="refund_by_staff", by=world.BY, reason="The store was down.")
    charge = vendor.api.get(f"submissions/{submission.id}").body["charge"]
    assert (charge["state"], charge["reason"]) == ("refunded", "The store was down.")
    assert "The store was down." in charge["words"]
    found = counters(vendor.api.get("quota"), task_set, harness)
    assert (found["line"]["used"], found["line"]["refunded"], found["line"]["remaining"]) == (0, 1, 3)
    with pytest.raises(Refused) as caught:
        services.refund(submission, cause="refund_by_staff", by=world.BY, reason="Again.")
    assert caught.value.refusal.code == "refund_not_possible"
    with pytest.raises(ValueError, match="reason"):
        services.refund(submission, cause="refund_by_staff", by=world.BY, reason=" ")


@pytest.mark.case("E12")
def test_web_and_several_tokens_of_one_account_share_one_ledger(vendor: Vendor, harness: Harness) -> None:
    from accounts import services as accounts

    task_set = world.task_set(in_flight=9, preflight=9)
    _, secret = accounts.issue_token(
        vendor.user, vendor.organisation, name="second", scopes=["submit", "read"], by=world.BY
    )
    assert post(vendor, task_set, harness).status == 202
    second = world.Api(secret).post("submissions", world.body_of(vendor.order(task_set, harness)))
    assert second.status == 202
    services.submit(vendor.order(task_set, harness), by=vendor.actor, key=uuid.uuid4().hex)
    answer = post(vendor, task_set, harness)
    assert (answer.status, answer.code, answer.body["used"]) == (429, "quota_line", 3)
    assert answer.body["next_allowed_reason"] == "next_task_set_version"


def test_the_three_counters_are_counted_apart(vendor: Vendor, harness: Harness) -> None:
    """Line 3, account 3, lineage 5: a colleague's submissions draw on the organisation's, not on one's own."""
    task_set = world.task_set(in_flight=9, preflight=9)
    for _ in range(3):
        assert post(vendor, task_set, harness).status == 202
    other_line = vendor.harness("second")
    assert post(vendor, task_set, other_line).code == "quota_account"
    mate = world.colleague(vendor)
    for _ in range(2):
        assert post(mate, task_set, other_line).status == 202
    answer = post(mate, task_set, other_line)
    assert (answer.status, answer.code, answer.body["used"]) == (429, "quota_lineage", 5)


@pytest.mark.case("E13")
def test_an_old_version_s_usage_does_not_count(vendor: Vendor, harness: Harness) -> None:
    old, new = world.task_set("old", in_flight=9, preflight=9), world.task_set("new", profile="official")
    for _ in range(3):
        assert post(vendor, old, harness).status == 202
    assert post(vendor, old, harness).code == "quota_line"
    assert post(vendor, new, harness).status == 202
    found = counters(vendor.api.get("quota"), new, harness)
    assert found["line"]["used"] == 1


@pytest.mark.case("E17")
def test_an_upload_that_is_not_complete_takes_no_slot(
    vendor: Vendor, harness: Harness, task_set: TaskSetVersion
) -> None:
    version = vendor.version(harness)
    upload = services.open_upload(version, sha256="0" * 64, size=10, by=vendor.actor)
    order = queries.Order(vendor.organisation, version, task_set, upload)
    answer = vendor.api.post("submissions", world.body_of(order))
    assert (answer.status, answer.code) == (409, "upload_not_complete")
    assert not Slot.objects.exists()


def test_a_stop_refuses_with_its_date(vendor: Vendor, harness: Harness, task_set: TaskSetVersion) -> None:
    until = clock.now() + timedelta(days=30)
    stop = services.stop_admission(
        task_set, cause="leak_budget_spent", lineage=vendor.organisation.lineage, until=until, by=world.BY
    )
    answer = post(vendor, task_set, harness)
    assert (answer.status, answer.code) == (403, "admission_stopped")
    assert answer.body["next_allowed_at"] == until.isoformat()
    services.lift_stop(stop, by=world.BY)
    assert post(vendor, task_set, harness).status == 202


def test_new_policy_rows_leave_the_old_ones_as_history(vendor: Vendor, harness: Harness) -> None:
    task_set = world.task_set()
    later = clock.now() + timedelta(hours=1)
    services.set_policy(task_set, profile="official", numbers={"line": 1}, valid_from=later, by=world.BY)
    now = queries.terms_at(task_set)
    then = queries.terms_at(task_set, later)
    assert now is not None
    assert then is not None
    assert (now.line, now.profile) == (3, "demo")
    assert (then.line, then.profile) == (1, "official")


def test_the_confirm_step_says_what_the_submit_will_say(vendor: Vendor, harness: Harness) -> None:
    task_set = world.task_set(profile="official")
    order = vendor.order(task_set, harness)
    assert queries.may_submit(order, by=vendor.actor) is None
    vendor.submit(task_set, harness)
    refusal = queries.may_submit(order, by=vendor.actor)
    assert refusal is not None
    assert refusal.code == vendor.api.post("submissions", world.body_of(order)).code
