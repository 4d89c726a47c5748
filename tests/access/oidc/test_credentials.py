"""What a job's two credentials may do: act for one harness for 15 minutes, watch the one submission it makes."""

from __future__ import annotations

import uuid
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier
from typing import Any

import pytest
from django.db import connections

from accounts import services as accounts
from accounts.publishing import services as publishing
from accounts.publishing.models import CiGrant, TrustedPublisher
from benchmark.models import TaskSetVersion
from config import clock
from submissions.models import Harness, Submission
from tests.access.oidc.arranged import Job
from tests.pages import site
from tests.submissions import world

pytestmark = pytest.mark.django_db
line = pytest.mark.acceptance("access:3")


@pytest.fixture
def task_set(db: None) -> TaskSetVersion:
    return site.task_set(in_flight=9)


@pytest.fixture
def pair(job: Job) -> tuple[world.Api, world.Api]:
    """To act, and to watch."""
    body = job.exchange().body
    return world.Api(body["act"]["token"]), world.Api(body["watch"]["token"])


Pair = tuple[world.Api, world.Api]


def submitted(
    act: world.Api, vendor: world.Vendor, task_set: TaskSetVersion, harness: Harness, **more: Any
) -> world.Answer:
    return act.post("submissions", world.body_of(vendor.order(task_set, harness)), **more)


@line
def test_forty_minutes_later_one_acts_no_more_and_the_other_still_watches(
    pair: Pair, vendor: world.Vendor, task_set: TaskSetVersion, harness: Harness
) -> None:
    act, watch = pair
    made = submitted(act, vendor, task_set, harness)
    assert made.status == 202
    path = f"submissions/{made.body['id']}"
    with clock.shifted(timedelta(minutes=40)):
        expired = act.get(path)
        assert (expired.status, expired.code) == (401, "ci_expired")
        found = site.moved(Submission.objects.get(pk=made.body["id"]), *site.TO_COMPLETE)
        site.preflight_result(found)
        site.release(found)
        assert watch.get(path).body["state"] == "complete"
        assert watch.get(f"{path}/preflight").status == 200
        assert watch.get(f"{path}/result").body["domains"]
        assert watch.get(f"uploads/{found.upload_id}").status == 200
    with clock.shifted(timedelta(days=7, hours=1)):
        assert watch.get(path).code == "ci_expired"
        assert watch.get(f"{path}/result").code == "ci_expired"


@line
def test_before_the_submission_there_is_nothing_to_watch(
    pair: Pair, vendor: world.Vendor, task_set: TaskSetVersion, harness: Harness
) -> None:
    act, watch = pair
    earlier = vendor.submit(task_set, harness)
    answer = watch.get(f"submissions/{earlier.id}")
    assert (answer.status, answer.code) == (409, "watch_unbound")
    made = submitted(act, vendor, task_set, harness).body["id"]
    assert watch.get(f"submissions/{made}").status == 200
    assert watch.get(f"submissions/{earlier.id}").code == "not_found"
    assert watch.get(f"uploads/{earlier.upload_id}").code == "not_found"


def test_who_watches_changes_nothing(
    pair: Pair, vendor: world.Vendor, task_set: TaskSetVersion, harness: Harness
) -> None:
    act, watch = pair
    made = submitted(act, vendor, task_set, harness).body["id"]
    for method, path in [
        ("POST", f"submissions/{made}/cancel"),
        ("POST", f"submissions/{made}/choice"),
        ("POST", "submissions"),
        ("POST", "uploads"),
        ("POST", f"harnesses/{harness.id}/versions"),
        ("GET", "submissions"),
        ("GET", "harnesses"),
        ("GET", "publishers"),
        ("GET", "quota"),
    ]:
        assert watch.call(method, path, {}).code == "credential_not_permitted", path
    assert Submission.objects.get(pk=made).state != "cancelled"


def test_who_acts_does_so_for_one_harness(
    pair: Pair, vendor: world.Vendor, task_set: TaskSetVersion, harness: Harness
) -> None:
    act, _ = pair
    second = vendor.harness("second")
    assert [row["id"] for row in act.get("harnesses").body["harnesses"]] == [str(harness.id)]
    assert act.get(f"harnesses/{second.id}/versions").code == "token_harness_mismatch"
    assert submitted(act, vendor, task_set, second).code == "token_harness_mismatch"
    assert act.post("harnesses", {"name": "third"}).code == "token_harness_mismatch"
    for path in ("publishers", "tokens"):
        assert act.get(path).status in (403, 404)
    assert act.post("publishers", {}).code == "credential_not_permitted"


def test_it_registers_uploads_submits_and_cancels(
    pair: Pair, vendor: world.Vendor, task_set: TaskSetVersion, harness: Harness
) -> None:
    from tests.submissions.bundles import card

    act, watch = pair
    made = act.post(f"harnesses/{harness.id}/versions", {"version": "7.0", "card": card()})
    assert made.status == 201
    upload = act.post("uploads", {"harness_version": made.body["id"], "sha256": "0" * 64, "size": 10})
    assert upload.status == 201
    assert upload.body["parts"]
    submission = submitted(act, vendor, task_set, harness).body["id"]
    assert act.post(f"submissions/{submission}/cancel").body["state"] == "cancelled"
    assert watch.get(f"submissions/{submission}").body["state"] == "cancelled"


def test_it_submits_once_and_a_repeat_is_the_same(
    pair: Pair, vendor: world.Vendor, task_set: TaskSetVersion, harness: Harness
) -> None:
    act, _ = pair
    order = world.body_of(vendor.order(task_set, harness))
    first = act.post("submissions", order, key="k")
    assert act.post("submissions", order, key="k").body == first.body
    second = submitted(act, vendor, task_set, harness)
    assert (second.status, second.code) == (409, "act_used")
    assert second.body["submission"] == first.body["id"]
    assert Submission.objects.count() == 1


def test_a_job_that_runs_again_watches_what_the_first_one_submitted(
    pair: Pair, job: Job, vendor: world.Vendor, task_set: TaskSetVersion, harness: Harness
) -> None:
    order = world.body_of(vendor.order(task_set, harness))
    first = pair[0].post("submissions", order, key="k")
    again = job.exchange().body
    repeated = world.Api(again["act"]["token"]).post("submissions", order, key="k")
    assert repeated.body == first.body
    assert world.Api(again["watch"]["token"]).get(f"submissions/{first.body['id']}").status == 200


def test_it_counts_for_whoever_registered_the_publisher(
    pair: Pair, vendor: world.Vendor, harness: Harness
) -> None:
    scarce = site.task_set("2026.8", account=1, in_flight=9)
    made = submitted(pair[0], vendor, scarce, harness)
    assert Submission.objects.get(pk=made.body["id"]).account == vendor.user
    order = world.body_of(vendor.order(scarce, vendor.harness("second")))
    assert vendor.api.post("submissions", order).code == "quota_account"


@pytest.mark.case("G38")
def test_removing_the_publisher_ends_what_acts_at_once_and_not_what_watches(
    pair: Pair,
    job: Job,
    vendor: world.Vendor,
    publisher: TrustedPublisher,
    task_set: TaskSetVersion,
    harness: Harness,
) -> None:
    act, watch = pair
    made = submitted(act, vendor, task_set, harness).body["id"]
    publishing.remove(publisher, person=vendor.user, by=vendor.actor)
    assert act.get("harnesses").code == "publisher_removed"
    assert job.exchange().code == "publisher_removed"
    assert watch.get(f"submissions/{made}").status == 200
    accounts.suspend_user(vendor.user, by=world.BY)
    assert watch.get(f"submissions/{made}").code == "publisher_suspended"


def test_a_secret_that_nobody_gave_is_no_credential(pair: Pair) -> None:
    assert world.Api(pair[0].secret + "x").get("harnesses").code == "token_invalid"
    assert world.Api(f"lgb_ci_{uuid.uuid4().hex}").get("harnesses").code == "token_invalid"


@line
@pytest.mark.django_db(transaction=True)
def test_of_two_submissions_at_once_one_is_the_jobs(
    pair: Pair, vendor: world.Vendor, task_set: TaskSetVersion, harness: Harness
) -> None:
    orders = [world.body_of(vendor.order(task_set, harness)) for _ in range(2)]
    both = Barrier(2)

    def send(order: dict[str, Any]) -> world.Answer:
        both.wait()
        try:
            return pair[0].post("submissions", order)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(2) as pool:
        answers = sorted(
            (found.result() for found in [pool.submit(send, order) for order in orders]),
            key=lambda a: a.status,
        )
    assert [answer.status for answer in answers] == [202, 409]
    assert answers[1].code == "act_used"
    assert str(CiGrant.objects.get().submission_id) == answers[0].body["id"]
    assert Submission.objects.count() == 1
