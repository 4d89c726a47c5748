"""How large a package may be depends on what it is: said when it is declared, and by the bytes that come."""

from __future__ import annotations

import uuid

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from benchmark.models import TaskSetVersion
from submissions import services
from submissions.intake import Kind, kinds
from submissions.intake.archive import Limits
from submissions.models import Harness, Submission, Upload
from submissions.queries import Order
from tests.images.builder import file, image, manifest
from tests.pages import site
from tests.submissions.bundles import bundle, pack, sha256
from tests.submissions.test_submit import send
from tests.submissions.world import Vendor

pytestmark = [pytest.mark.django_db, pytest.mark.acceptance("fleet:1")]
BUNDLE, IMAGE = 512 * 1024**2, 4 * 1024**3


@pytest.mark.parametrize(
    ("kind", "size", "limit"),
    [
        ("bundle", BUNDLE, None),
        ("bundle", BUNDLE + 1, BUNDLE),
        (None, BUNDLE + 1, BUNDLE),
        ("image", IMAGE, None),
        ("image", IMAGE + 1, IMAGE),
    ],
)
def test_a_size_is_refused_when_it_is_declared(
    vendor: Vendor, harness: Harness, kind: str | None, size: int, limit: int | None
) -> None:
    version = vendor.version(harness)
    body = {"harness_version": str(version.id), "sha256": "0" * 64, "size": size}
    answer = vendor.api.post("uploads", body | ({"kind": kind} if kind else {}))
    if limit is None:
        assert answer.status == 201
        assert sum(part["size"] for part in answer.body["parts"]) == size
    else:
        assert (answer.status, answer.code) == (413, "package_too_large")
        assert f" {limit} " in answer.body["detail"]


def test_a_kind_that_is_none_is_named(vendor: Vendor, harness: Harness) -> None:
    body = {
        "harness_version": str(vendor.version(harness).id),
        "sha256": "0" * 64,
        "size": 1,
        "kind": "folder",
    }
    answer = vendor.api.post("uploads", body)
    assert (answer.status, answer.body["errors"][0]["path"]) == (422, "$.kind")


def test_a_bundle_that_was_declared_an_image_keeps_its_limit(
    vendor: Vendor, harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kinds, "LIMITS", Limits(packed=1000))
    data = bundle(files={"x": uuid.uuid4().bytes * 200})
    data += bytes(1500)
    body = {"harness_version": str(vendor.version(harness).id), "sha256": sha256(data), "size": len(data)}
    upload = vendor.api.post("uploads", {**body, "kind": "image"}).body
    done = vendor.api.post(f"uploads/{upload['id']}/complete", {"parts": send(upload["parts"], data)})
    assert (done.status, done.code) == (413, "package_too_large")
    assert " 1000 " in done.body["detail"]
    assert Upload.objects.get().state == "failed"


def test_an_image_comes_by_the_form_and_is_bounded_as_one(
    vendor: Vendor, harness: Harness, task_set: TaskSetVersion, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kinds, "LIMITS", Limits(packed=1000))
    browser = Client(raise_request_exception=False)
    site.sign_in(browser, vendor.user)
    version = vendor.version(harness)
    for data, status in (
        (image().oci(), 302),
        (bundle(files={"x": uuid.uuid4().bytes * 200}) + bytes(1500), 413),
    ):
        package = SimpleUploadedFile("package", data)
        fields = {"version": str(version.id), "task_set": task_set.label, "package": package}
        answer = browser.post("/en/v/submissions/new/", fields)
        assert answer.status_code == status, answer.content.decode()[-3000:]
    assert Upload.objects.earliest("created_at").state == "complete"


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("data", "code"),
    [
        (image([file("su", mode=0o4755)]).oci(), "entry_setuid"),
        (image(settings={"Privileged": True}).docker(), "image_setting_refused"),
        (image().oci()[:3000], "package_truncated"),
        (image((), [file("harness/harness.toml", manifest(kind="bundle"))]).oci(), "manifest_value_invalid"),
        (image((), [file("harness/harness.toml", manifest(name="other"))]).oci(), "manifest_name_differs"),
        (pack([file("harness.toml", manifest())], b""), "manifest_value_invalid"),
    ],
)
def test_an_image_that_breaks_a_rule_is_rejected_at_intake(
    vendor: Vendor, harness: Harness, task_set: TaskSetVersion, data: bytes, code: str
) -> None:
    label = vendor.version(harness, "1.0.0")
    order = Order(vendor.organisation, label, task_set, vendor.upload(label, data))
    receipt = services.submit(order, by=vendor.actor, key=uuid.uuid4().hex)
    services.check(receipt.submission_id)
    ended = Submission.objects.get(pk=receipt.submission_id)
    assert (ended.state, ended.reason_code) == ("rejected", code)
    assert ended.package is None


def test_a_kind_is_told_by_the_first_bytes() -> None:
    assert kinds.kind_of(bundle()[:264]) is Kind.BUNDLE
    assert kinds.kind_of(image().oci()[:264]) is Kind.IMAGE
    assert kinds.kind_of(image().docker()[:264]) is Kind.IMAGE
    assert [kinds.kind_of(start) for start in (b"", b"PK\x03\x04", b"\x28\xb5\x2f\xfd")] == [None] * 3
