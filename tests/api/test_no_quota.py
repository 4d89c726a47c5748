"""Where nothing could be submitted, nothing is sent either: refused before a byte, with the date."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from benchmark.models import TaskSetVersion
from config import clock
from submissions import services
from submissions.models import Harness, Upload
from tests.pages.site import address, signed_in
from tests.submissions import world
from tests.submissions.bundles import bundle, sha256
from tests.submissions.test_quota import consume
from tests.submissions.world import Answer, Vendor

pytestmark = [pytest.mark.django_db, pytest.mark.case("U5"), pytest.mark.acceptance("access:1")]


def declare(vendor: Vendor, harness: Harness, digest: str = "0" * 64, **more: str) -> Answer:
    version = vendor.version(harness)
    return vendor.api.post(
        "uploads", {"harness_version": str(version.id), "sha256": digest, "size": 9, **more}
    )


def used_up(vendor: Vendor, harness: Harness) -> TaskSetVersion:
    task_set = world.task_set(line=1)
    services.cancel(consumed(vendor, task_set, harness).id, by=vendor.actor)
    return task_set


def consumed(vendor: Vendor, task_set: TaskSetVersion, harness: Harness) -> Any:
    submission = vendor.submit(task_set, harness)
    consume(submission)
    return submission


def test_an_upload_that_could_not_be_submitted_is_refused_before_a_byte(
    vendor: Vendor, harness: Harness
) -> None:
    used_up(vendor, harness)
    before = Upload.objects.count()
    answer = declare(vendor, harness)
    assert (answer.status, answer.code) == (429, "quota_line")
    assert (answer.body["policy"], answer.body["used"], answer.body["limit"]) == ("demo", 1, 1)
    assert answer.body["next_allowed_reason"] == "next_task_set_version"
    assert Upload.objects.count() == before
    assert declare(vendor, vendor.harness("another")).status == 201


def test_the_cooldown_s_end_is_the_date_and_it_works(vendor: Vendor, harness: Harness) -> None:
    task_set = world.task_set(profile="official")
    submission = consumed(vendor, task_set, harness)
    assert declare(vendor, harness).status == 201, "what is in flight may end so that its cooldown is lifted"
    services.cancel(submission.id, by=vendor.actor)
    answer = declare(vendor, harness)
    until = submission.admitted_at + timedelta(days=7)
    assert (answer.status, answer.code) == (429, "cooldown")
    assert answer.body["next_allowed_at"] == until.isoformat()
    with clock.frozen(until - services.LIFETIME):
        assert declare(vendor, harness).status == 201


def test_what_is_sent_for_a_preflight_needs_a_preflight_that_is_left(
    vendor: Vendor, harness: Harness
) -> None:
    task_set = world.task_set(line=1, preflight=2)
    services.cancel(consumed(vendor, task_set, harness).id, by=vendor.actor)
    assert declare(vendor, harness, purpose="submission").code == "quota_line"
    assert declare(vendor, harness, purpose="preflight").status == 201
    order = vendor.order(task_set, harness)
    services.cancel(services.start_preflight(order, by=vendor.actor, key="k").submission_id, by=vendor.actor)
    assert declare(vendor, harness, purpose="preflight").code == "preflight_ceiling"
    assert declare(vendor, harness, purpose="else").code == "invalid_field"
    version = vendor.version(vendor.harness("another"))
    body = {"harness_version": str(version.id), "sha256": "0" * 64, "size": 9}
    plain, named, other = (
        vendor.api.post("uploads", {**body, **more}, key="one")
        for more in ({}, {"purpose": "submission"}, {"purpose": "preflight"})
    )
    assert (plain.status, named.body["id"]) == (201, plain.body["id"])
    assert other.code == "idempotency_conflict"


def test_another_open_version_may_still_take_it(vendor: Vendor, harness: Harness) -> None:
    used_up(vendor, harness)
    world.task_set("next")
    assert declare(vendor, harness).status == 201


def test_the_same_package_may_come_again_as_it_costs_nothing(vendor: Vendor, harness: Harness) -> None:
    task_set = world.task_set(line=1)
    submission = consumed(vendor, task_set, harness)
    services.cancel(submission.id, by=vendor.actor)
    assert declare(vendor, harness, submission.package_digest).status == 201


def test_the_form_is_closed_and_a_post_to_it_stores_nothing(vendor: Vendor, harness: Harness) -> None:
    task_set = used_up(vendor, harness)
    browser = signed_in(vendor.user)
    page = browser.get(address("submissions:new_submission")).content.decode()
    assert '<button class="btn btn-primary" type="submit" disabled>' in page
    assert "quota_line" in page
    version, before = vendor.version(harness), Upload.objects.count()
    data = bundle(harness.name, version.version)
    form = {"version": str(version.id), "task_set": task_set.label, "sha256": sha256(data)}
    package = SimpleUploadedFile("b.tar.gz", data)
    answer = browser.post(address("submissions:new_submission"), {**form, "package": package})
    assert answer.status_code == 429
    assert Upload.objects.count() == before
    assert 'name="purpose" value="preflight"' in page
    package = SimpleUploadedFile("b.tar.gz", data)
    sent = {**form, "package": package, "purpose": "preflight"}
    answer = browser.post(address("submissions:new_submission"), sent)
    assert "Preflight only" in browser.get(answer.headers["Location"]).content.decode()
    vendor.harness("another")
    page = browser.get(address("submissions:new_submission")).content.decode()
    assert 'type="submit" disabled' not in page
