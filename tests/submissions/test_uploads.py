"""Uploads: resumed, repeated, given up, expired; nothing signed is ever written down."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import httpx
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from psycopg import Connection

from benchmark.models import TaskSetVersion
from config import clock
from submissions import services
from submissions.models import Harness, Upload
from submissions.services import quarantine
from tests.pages import site
from tests.submissions import world
from tests.submissions.bundles import bundle, sha256
from tests.submissions.outcomes import bring_to
from tests.submissions.test_submit import send
from tests.submissions.world import Answer, Vendor

pytestmark = pytest.mark.django_db


def opened(vendor: Vendor, harness: Harness, data: bytes) -> Answer:
    version = vendor.version(harness)
    body = {"harness_version": str(version.id), "sha256": sha256(data), "size": len(data)}
    return vendor.api.post("uploads", body)


def stored(upload: Upload) -> bool:
    try:
        quarantine.measure(upload.key, 10**9)
    except quarantine.Nothing:
        return False
    return True


@pytest.mark.case("E44")
def test_an_interrupted_upload_is_resumed_with_fresh_addresses(vendor: Vendor, harness: Harness) -> None:
    data = bundle()
    upload = opened(vendor, harness, data).body
    again = vendor.api.get(f"uploads/{upload['id']}").body
    assert [part["number"] for part in again["parts"]] == [1]
    tags = send(again["parts"], data)
    done = vendor.api.post(f"uploads/{upload['id']}/complete", {"parts": tags})
    assert done.body["state"] == "complete"
    assert vendor.api.get(f"uploads/{upload['id']}").body["parts"] == []
    repeated = vendor.api.post(f"uploads/{upload['id']}/complete", {"parts": tags})
    assert (repeated.status, repeated.body) == (200, done.body)


@pytest.mark.acceptance("main-job:8")
@pytest.mark.parametrize("data", [b'{"schema": "harness-card/1"}', b"\x1f", b"PK\x03\x04" + bytes(600)])
def test_what_is_not_gzip_fails_when_the_api_completes_it(
    data: bytes, vendor: Vendor, harness: Harness
) -> None:
    upload = opened(vendor, harness, data).body
    tags = send(upload["parts"], data)
    refused = vendor.api.post(f"uploads/{upload['id']}/complete", {"parts": tags})
    assert (refused.status, refused.code) == (422, "package_not_gzip")
    row = Upload.objects.get()
    assert (row.state, row.failure, stored(row)) == ("failed", "package_not_gzip", False)


@pytest.mark.acceptance("main-job:8")
def test_what_is_not_gzip_fails_when_the_form_sends_it(
    vendor: Vendor, harness: Harness, task_set: TaskSetVersion
) -> None:
    browser = Client(raise_request_exception=False)
    site.sign_in(browser, vendor.user)
    package = SimpleUploadedFile("bundle.tar.gz", b'{"schema": "harness-card/1"}')
    fields = {"version": str(vendor.version(harness).id), "task_set": task_set.label, "package": package}
    answer = browser.post("/en/v/submissions/new/", fields)
    assert answer.status_code == 422
    assert "package_not_gzip" in answer.content.decode()
    row = Upload.objects.get()
    assert (row.state, row.failure, stored(row)) == ("failed", "package_not_gzip", False)


@pytest.mark.case("G21")
def test_one_that_was_given_up_cannot_be_used(
    vendor: Vendor, harness: Harness, task_set: TaskSetVersion
) -> None:
    order = vendor.order(task_set, harness)
    answer = vendor.api.call("DELETE", f"uploads/{order.upload.id}")
    assert (answer.status, answer.body["state"]) == (200, "aborted")
    assert not stored(order.upload)
    refused = vendor.api.post("submissions", world.body_of(order))
    assert (refused.status, refused.code) == (409, "upload_not_complete")
    late = vendor.api.post(f"uploads/{order.upload.id}/complete", {"parts": [{"number": 1, "etag": "x"}]})
    assert (late.status, late.code) == (409, "upload_not_open")


def test_one_that_is_used_is_not_given_up(vendor: Vendor, harness: Harness, task_set: TaskSetVersion) -> None:
    submission = vendor.submit(task_set, harness)
    answer = vendor.api.call("DELETE", f"uploads/{submission.upload_id}")
    assert (answer.status, answer.code) == (409, "upload_used")


def test_the_sweep_removes_what_expired(vendor: Vendor, harness: Harness, task_set: TaskSetVersion) -> None:
    opened(vendor, harness, bundle())
    waiting = vendor.order(task_set, harness)
    with clock.shifted(timedelta(hours=23)):
        services.sweep()
        assert stored(waiting.upload)
    with clock.shifted(timedelta(hours=25)):
        services.sweep()
    assert set(Upload.objects.values_list("state", flat=True)) == {"expired"}
    refused = vendor.api.post("submissions", world.body_of(waiting))
    assert (refused.status, refused.code) == (409, "upload_expired")


@pytest.mark.django_db(transaction=True)
def test_bytes_leave_quarantine_once_they_are_checked() -> None:
    vendor, task_set = world.vendor(), world.task_set()
    submission = vendor.submit(task_set, vendor.harness())
    services.sweep()
    assert stored(submission.upload)
    submission = bring_to(submission, "preflight")
    services.sweep()
    assert not stored(submission.upload)
    assert Upload.objects.get().removed_at is not None
    assert submission.package is not None
    assert submission.package.digest == submission.package_digest


@pytest.mark.case("E44")
@pytest.mark.django_db(transaction=True)
def test_nothing_signed_is_written_down(caplog: Any, connect_as: Callable[[str], Connection[Any]]) -> None:
    caplog.set_level(logging.DEBUG)
    for name in ("botocore", "boto3", "urllib3", "django"):
        logging.getLogger(name).setLevel(logging.INFO)
    vendor = world.vendor()
    data = bundle()
    upload = opened(vendor, vendor.harness(), data).body
    url = upload["parts"][0]["url"]
    secret = httpx.URL(url).params["X-Amz-Signature"]
    assert httpx.put(url, content=data + b"x").status_code == 403
    failed = vendor.api.post(f"uploads/{upload['id']}/complete", {"parts": [{"number": 1, "etag": "x"}]})
    assert failed.status == 422
    bodies = connect_as("auditor").execute("SELECT convert_from(body, 'UTF8') FROM audit_event").fetchall()
    for text in (caplog.text, str(failed.body), str(bodies), str(Upload.objects.values())):
        assert secret not in text
        assert "X-Amz" not in text
