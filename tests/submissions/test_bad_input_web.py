"""The same bad input through the web form: the page says what is wrong, nothing is charged, never a 500."""

from __future__ import annotations

import io
import json
import uuid
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from accounts import services as accounts
from benchmark.models import TaskSetVersion
from submissions import services
from submissions.intake import Limits, inspect
from submissions.models import Harness, HarnessVersion, Slot, Submission, Upload
from tests.pages import site
from tests.submissions import world
from tests.submissions.bundles import bundle, card, entry, manifest, pack
from tests.submissions.world import Vendor

pytestmark = [pytest.mark.django_db, pytest.mark.acceptance("main-job:8")]
NEW = "/en/v/submissions/new/"
BACKEND = "django.contrib.auth.backends.ModelBackend"


@pytest.fixture
def browser(vendor: Vendor) -> Client:
    found = Client(raise_request_exception=False)
    site.sign_in(found, vendor.user)
    return found


@pytest.fixture
def ours(vendor: Vendor, harness: Harness) -> HarnessVersion:
    return vendor.version(harness, "1.0")


def send(browser: Client, version: HarnessVersion, to: TaskSetVersion, data: bytes, **changes: Any) -> Any:
    package = SimpleUploadedFile("bundle.tar.gz", data)
    fields = {"version": str(version.id), "task_set": to.label, "package": package} | changes
    return browser.post(NEW, fields)


def says(answer: Any, status: int, code: str) -> None:
    assert answer.status_code == status
    assert code in answer.content.decode()
    assert not Slot.objects.filter(state__in=("reserved", "consumed")).exists()
    assert not Upload.objects.filter(state="complete").exists()


def test_a_request_that_is_cut_off(browser: Client, ours: HarnessVersion, task_set: TaskSetVersion) -> None:
    boundary = "x" * 20
    whole = (
        f'--{boundary}\r\nContent-Disposition: form-data; name="version"\r\n\r\n{ours.id}\r\n'
        f'--{boundary}\r\nContent-Disposition: form-data; name="task_set"\r\n\r\n{task_set.label}\r\n'
        f'--{boundary}\r\nContent-Disposition: form-data; name="package"; filename="b.tar.gz"\r\n'
        "Content-Type: application/gzip\r\n\r\n"
    ).encode() + bundle()
    answer = browser.generic(
        "POST", NEW, whole[:-40], content_type=f"multipart/form-data; boundary={boundary}"
    )
    assert answer.status_code < 500
    assert not Submission.objects.exists()
    assert not Slot.objects.exists()


def test_a_wrong_hash(browser: Client, ours: HarnessVersion, task_set: TaskSetVersion) -> None:
    says(send(browser, ours, task_set, bundle(), sha256="0" * 64), 422, "hash_mismatch")
    assert Upload.objects.get().failure == "hash_mismatch"


def test_an_empty_file(browser: Client, ours: HarnessVersion, task_set: TaskSetVersion) -> None:
    says(send(browser, ours, task_set, b""), 422, "package_empty")


@pytest.mark.parametrize(
    ("data", "code", "named"),
    [
        (pack([entry("../x", b"")]), "entry_traversal", "../x"),
        (pack([], manifest(extra='colour = "red"\n')), "manifest_unknown_key", "colour"),
        (pack([entry("bomb", bytes(3 * 1024 * 1024))]), "package_unpacked_too_large", "bomb"),
        (bundle()[:-9], "package_truncated", ""),
    ],
)
def test_a_bad_package(
    data: bytes,
    code: str,
    named: str,
    browser: Client,
    ours: HarnessVersion,
    task_set: TaskSetVersion,
    monkeypatch: Any,
) -> None:
    small = Limits(unpacked=1024 * 1024)
    monkeypatch.setattr("submissions.services.checking.inspect", lambda source: inspect(source, small))
    at = send(browser, ours, task_set, data)["Location"]
    confirmed = browser.post(at, {"key": uuid.uuid4().hex, "task_set": task_set.label})
    submission = Submission.objects.get()
    assert confirmed["Location"] == f"/en/v/submissions/{submission.id}/"
    services.check(submission.id)
    says(browser.get(confirmed["Location"]), 200, code)
    page = browser.get(confirmed["Location"]).content.decode()
    assert named in page
    submission.refresh_from_db()
    assert submission.state == "rejected"


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(card(colour="red")),
        json.dumps(card(notes="a\x00b")),
        json.dumps(card(inference={"temperature": float("nan")})),
        "[" * 400 + "]" * 400,
        '{"a": ' + "9" * 5000 + "}",
        "notes: 2026-01-01",
        "a: &x [1]\nb: *x",
        "\x00",
        "\ud800".encode("utf-8", "surrogatepass").decode("latin-1"),
    ],
)
def test_a_wrong_card(text: str, browser: Client, harness: Harness) -> None:
    path = f"/en/v/harnesses/{harness.id}/versions/new/?by=document"
    answer = browser.post(path, {"version": "1.0", "text": text})
    assert answer.status_code == 422
    file = SimpleUploadedFile("card.json", text.encode())
    assert browser.post(path, {"version": "1.0", "file": file}).status_code == 422
    assert not HarnessVersion.objects.exists()


def test_foreign_things_are_not_there(
    browser: Client, ours: HarnessVersion, task_set: TaskSetVersion
) -> None:
    other = world.vendor()
    order = other.order(task_set, other.harness())
    foreign = order.harness_version
    assert browser.get(f"/en/v/versions/{foreign.id}/").status_code == 404
    assert browser.get(f"/en/v/harnesses/{foreign.harness_id}/").status_code == 404
    confirm = f"/en/v/uploads/{order.upload.id}/confirm/?task_set={task_set.label}"
    assert browser.post(confirm, {"key": "k", "task_set": task_set.label}).status_code == 404
    assert send(browser, foreign, task_set, bundle()).status_code == 422
    assert not Slot.objects.exists()


def test_an_ended_session_and_a_suspended_account(
    browser: Client, vendor: Vendor, ours: HarnessVersion, task_set: TaskSetVersion
) -> None:
    upload = vendor.upload(ours)
    confirm = f"/en/v/uploads/{upload.id}/confirm/?task_set={task_set.label}"
    fields = {"key": "k", "task_set": task_set.label}
    stranger = Client(raise_request_exception=False)
    assert "/login/" in stranger.post(confirm, fields)["Location"]
    accounts.suspend_user(vendor.user, by=world.BY)
    assert browser.post(confirm, fields).status_code == 403
    assert not Slot.objects.exists()
    assert Upload.objects.get().state == "complete"


@pytest.mark.case("G21")
@pytest.mark.parametrize("fails", ["begin", "upload_part", "join"])
def test_a_store_that_fails_leaves_nothing(
    fails: str, vendor: Vendor, ours: HarnessVersion, monkeypatch: Any
) -> None:
    from config import store
    from submissions.services import quarantine

    class Down(Exception):
        pass

    def down(*_: object, **__: object) -> None:
        raise Down

    target = store.client() if fails == "upload_part" else quarantine
    monkeypatch.setattr(target, fails, down)
    with pytest.raises(Down):
        services.receive_stream(ours, io.BytesIO(bundle()), by=vendor.actor)
    monkeypatch.undo()
    upload = Upload.objects.get()
    assert upload.state == "verifying"
    from datetime import timedelta

    from config import clock

    with clock.shifted(timedelta(hours=25)):
        services.sweep()
    upload.refresh_from_db()
    assert upload.state == "expired"
    with pytest.raises(quarantine.Nothing):
        quarantine.measure(upload.key, 10**9)
