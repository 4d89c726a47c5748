"""Asking before submitting: the answer is what a submit decides, and costs nothing."""

from __future__ import annotations

import pytest

from benchmark.models import TaskSetVersion
from submissions import services
from submissions.models import Harness, IdempotencyRecord, Slot, Submission
from tests.submissions import world
from tests.submissions.bundles import bundle
from tests.submissions.world import Answer, Vendor

pytestmark = pytest.mark.django_db


def asked(vendor: Vendor, order: world.queries.Order, *left_out: str) -> Answer:
    body = {name: value for name, value in world.body_of(order).items() if name not in left_out}
    return vendor.api.post("submissions/check", body, key="")


def test_it_says_what_submitting_would_cost(vendor: Vendor, harness: Harness) -> None:
    task_set = world.task_set(profile="official")
    order = vendor.order(task_set, harness)
    for left_out in ((), ("upload",)):
        answer = asked(vendor, order, *left_out)
        assert (answer.status, answer.body["allowed"], answer.body["refusal"]) == (200, True, None)
        estimate = answer.body["estimate"]
        assert (estimate["note"], estimate["uses"], estimate["remaining_after"]) == ("admitted", 1, 2)
        assert estimate["cooldown_until"] > answer.body["quota"]["now"]
        assert estimate["runs_per_task"] >= 1
    assert not Submission.objects.exists()
    assert not Slot.objects.exists()
    assert not IdempotencyRecord.objects.filter(route="submissions").exists()
    order.upload.refresh_from_db()
    assert order.upload.state == "complete"


def test_its_refusal_is_the_one_that_a_submit_gives(vendor: Vendor, harness: Harness) -> None:
    task_set = world.task_set(profile="official")
    vendor.submit(task_set, harness)
    order = vendor.order(task_set, harness)
    answer = asked(vendor, order)
    refused = vendor.api.post("submissions", world.body_of(order))
    assert (answer.status, answer.body["allowed"], answer.body["estimate"]) == (200, False, None)
    assert refused.status == 429
    assert answer.body["refusal"] == refused.body
    assert asked(vendor, order, "upload").body["refusal"] == refused.body
    assert answer.body["quota"]["bites"] == "in_flight"


@pytest.mark.parametrize("profile", ["demo", "official"])
def test_every_kind_of_refusal_is_foretold(vendor: Vendor, harness: Harness, profile: str) -> None:
    task_set = world.task_set(profile=profile, line=2, in_flight=9)
    closed = world.task_set("closed")
    incomplete = vendor.version(harness)
    upload = services.open_upload(incomplete, sha256="0" * 64, size=9, by=vendor.actor)
    orders = [
        world.queries.Order(vendor.organisation, incomplete, task_set, upload),
        vendor.order(closed, harness),
    ]
    services.close_task_set(closed, by=world.BY)
    codes = []
    for order in orders:
        answer = asked(vendor, order)
        codes.append(vendor.api.post("submissions", world.body_of(order)).body)
        assert answer.body["refusal"] == codes[-1]
    assert [body["code"] for body in codes] == ["upload_not_complete", "not_entitled"]


def test_an_identical_package_would_be_answered_by_the_earlier_one(
    vendor: Vendor, harness: Harness, task_set: TaskSetVersion
) -> None:
    from tests.pages import site

    version = vendor.version(harness)
    data = bundle(harness.name, version.version)
    first = world.queries.Order(vendor.organisation, version, task_set, vendor.upload(version, data))
    submission = Submission.objects.get(pk=services.submit(first, by=vendor.actor, key="first").submission_id)
    again = world.queries.Order(vendor.organisation, version, task_set, vendor.upload(version, data))
    assert asked(vendor, again).body["refusal"]["instance"] == f"/api/v1/submissions/{submission.id}"
    site.moved(submission, *site.TO_COMPLETE)
    estimate = asked(vendor, again).body["estimate"]
    assert (estimate["note"], estimate["uses"]) == ("identical_earlier", 0)
    assert estimate["submission"] == f"/api/v1/submissions/{submission.id}"


def test_it_tells_nobody_about_another_s_things(
    vendor: Vendor, other: Vendor, harness: Harness, task_set: TaskSetVersion
) -> None:
    answer = asked(other, vendor.order(task_set, harness))
    assert (answer.status, answer.code, answer.body["field"]) == (422, "unknown_reference", "harness_version")
