"""The way of a package on a store that checks everything: expired, tampered, cut, swapped, given up, resumed."""

from __future__ import annotations

import io
import logging
import os
import time
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import httpx
import pytest

from benchmark.models import TaskSetVersion
from config import clock, store
from submissions import services
from submissions.models import Upload
from submissions.services import quarantine
from submissions.services.uploads import LIFETIME
from tests.submissions import world
from tests.submissions.bundles import bundle, sha256
from tests.submissions.outcomes import bring_to
from tests.swift.store import Store, swift

pytestmark = [
    pytest.mark.serial,
    pytest.mark.django_db,
    pytest.mark.acceptance("access:1"),
    pytest.mark.timeout(300),
]
PART = 5 * 1024 * 1024
"""The smallest part that a store joins with others."""


@pytest.fixture(scope="session")
def strict(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with swift(tmp_path_factory.mktemp("swift")) as found:
        yield found


@pytest.fixture(autouse=True)
def _platform_on_it(strict: Store, servers: Any, settings: Any, monkeypatch: Any) -> Iterator[None]:
    """This process's client goes to Swift for one test."""
    settings.S3_ENDPOINT_URL, settings.S3_REGION = strict.endpoint, "us-east-1"
    settings.S3_ACCESS_KEY, settings.S3_SECRET_KEY = strict.access_key, strict.secret_key
    monkeypatch.setattr(quarantine, "PART_BYTES", PART)
    store.client.cache_clear()
    store.ensure_buckets()
    yield
    store.client.cache_clear()


@pytest.fixture
def vendor() -> world.Vendor:
    return world.vendor()


def large() -> bytes:
    """Three parts: two whole ones and a short one. Begins like gzip; what is in it is not looked at here."""
    return b"\x1f\x8b" + os.urandom(2 * PART + 1000)


def opened(vendor: world.Vendor, data: bytes) -> dict[str, Any]:
    version = vendor.version(vendor.harness())
    body = {"harness_version": str(version.id), "sha256": sha256(data), "size": len(data)}
    answer = vendor.api.post("uploads", body)
    assert answer.status == 201, answer.body
    return answer.body


def put(part: dict[str, Any], data: bytes) -> httpx.Response:
    return httpx.put(part["url"], content=data, timeout=60)


def pieces(data: bytes) -> list[bytes]:
    return [data[at : at + PART] for at in range(0, len(data), PART)]


def sent(parts: list[dict[str, Any]], data: bytes) -> list[dict[str, Any]]:
    """All parts sent, as `complete` wants them listed."""
    found = []
    for part, piece in zip(parts, pieces(data), strict=True):
        answer = put(part, piece)
        assert answer.status_code == 200, answer.text
        found.append({"number": part["number"], "etag": answer.headers["etag"].strip('"')})
    return found


def complete(vendor: world.Vendor, upload: dict[str, Any], tags: list[dict[str, Any]]) -> world.Answer:
    return vendor.api.post(f"uploads/{upload['id']}/complete", {"parts": tags})


def lies(upload: dict[str, Any]) -> bool:
    """Whether anything of it is in the store: an object, or parts of one."""
    row = Upload.objects.get(pk=upload["id"])
    bucket = quarantine.settings.S3_BUCKET_QUARANTINE
    objects = store.client().list_objects_v2(Bucket=bucket, Prefix=row.key).get("Contents", [])
    waiting = store.client().list_multipart_uploads(Bucket=bucket, Prefix=row.key).get("Uploads", [])
    return bool(objects or waiting)


def test_a_package_of_several_parts_arrives_whole(vendor: world.Vendor) -> None:
    data = large()
    upload = opened(vendor, data)
    assert [part["size"] for part in upload["parts"]] == [PART, PART, 1002]
    done = complete(vendor, upload, sent(upload["parts"], data))
    assert (done.status, done.body["state"]) == (200, "complete")
    received = quarantine.measure(Upload.objects.get().key, 10**9)
    assert (received.size, received.sha256) == (len(data), sha256(data))


@pytest.mark.case("E44")
def test_an_interrupted_upload_is_resumed_with_addresses_signed_anew(vendor: world.Vendor) -> None:
    data = large()
    upload = opened(vendor, data)
    first = put(upload["parts"][0], pieces(data)[0])
    with pytest.raises(httpx.HTTPError):  # the line breaks in the second part
        httpx.put(
            upload["parts"][1]["url"], content=broken(pieces(data)[1]), headers={"Content-Length": str(PART)}
        )
    again = vendor.api.get(f"uploads/{upload['id']}").body["parts"]
    tags = [{"number": 1, "etag": first.headers["etag"].strip('"')}]
    for part, piece in zip(again[1:], pieces(data)[1:], strict=True):
        tags.append({"number": part["number"], "etag": put(part, piece).headers["etag"].strip('"')})
    assert complete(vendor, upload, tags).body["state"] == "complete"
    assert complete(vendor, upload, tags).status == 200  # and again


def broken(data: bytes) -> Iterator[bytes]:
    yield data[: PART // 2]
    raise httpx.WriteError("the line broke")


@pytest.mark.case("E44")
def test_an_address_is_good_until_the_upload_expires_and_no_longer(vendor: world.Vendor) -> None:
    data = bundle()
    upload = opened(vendor, data)
    with clock.shifted(LIFETIME - timedelta(seconds=2)):
        (part,) = vendor.api.get(f"uploads/{upload['id']}").body["parts"]
    time.sleep(4)
    late = put(part, data)
    assert (late.status_code, "expired" in late.text) == (403, True)
    assert put(upload["parts"][0], data).status_code == 200
    with clock.shifted(LIFETIME + timedelta(seconds=2)):
        assert complete(vendor, upload, [{"number": 1, "etag": "x"}]).code == "upload_expired"


TAMPERED = {
    "signature": ("X-Amz-Signature=", "X-Amz-Signature=0"),
    "lifetime": ("X-Amz-Expires=", "X-Amz-Expires=9"),
    "part": ("partNumber=1", "partNumber=2"),
    "upload": ("uploadId=", "uploadId=A"),
    "key": ("/uploads/", "/uploads/x"),
    "date": ("X-Amz-Date=20", "X-Amz-Date=21"),
    "who": ("X-Amz-Credential=test", "X-Amz-Credential=best"),
}


@pytest.mark.parametrize("what", TAMPERED)
def test_a_tampered_address_opens_nothing(vendor: world.Vendor, what: str) -> None:
    data = bundle()
    (part,) = opened(vendor, data)["parts"]
    old, new = TAMPERED[what]
    url = part["url"].replace(old, new, 1)
    if url == part["url"]:  # keys have no folder of this name: change the key's last letter
        path, _, query = url.partition("?")
        url = f"{path}x?{query}"
    answer = httpx.put(url, content=data)
    assert answer.status_code in (400, 403), answer.text
    for method in ("GET", "HEAD", "DELETE"):
        assert httpx.request(method, part["url"]).status_code == 403
    assert put(part, data).status_code == 200


@pytest.mark.parametrize("change", [-1, 1])
def test_a_part_of_another_length_is_refused_by_the_store(vendor: world.Vendor, change: int) -> None:
    data = bundle()
    upload = opened(vendor, data)
    wrong = data[:change] if change < 0 else data + b"x"
    assert put(upload["parts"][0], wrong).status_code == 403
    refused = complete(vendor, upload, [{"number": 1, "etag": "0" * 32}])
    assert (refused.status, refused.code) == (422, "upload_parts_wrong")
    assert not lies(upload)


def test_other_bytes_of_the_same_length_are_found_by_our_own_hash_and_removed(vendor: world.Vendor) -> None:
    data = bundle()
    upload = opened(vendor, data)
    other = data[:-1] + bytes([data[-1] ^ 1])
    refused = complete(vendor, upload, sent(upload["parts"], other))
    assert (refused.status, refused.code) == (422, "hash_mismatch")
    assert not lies(upload)


@pytest.mark.parametrize("fault", ["missing", "twice", "swapped"])
def test_a_list_of_parts_that_does_not_fit_is_refused(vendor: world.Vendor, fault: str) -> None:
    data = large()
    upload = opened(vendor, data)
    tags = sent(upload["parts"], data)
    wrong = {
        "missing": tags[:2],
        "twice": [*tags, tags[0]],
        "swapped": [{**tags[0], "etag": tags[1]["etag"]}, {**tags[1], "etag": tags[0]["etag"]}, tags[2]],
    }[fault]
    refused = complete(vendor, upload, wrong)
    assert refused.status == 422
    assert refused.code in ("upload_parts_wrong", "upload_truncated", "invalid_field")
    assert Upload.objects.get().state != "complete"


@pytest.mark.case("E44")
def test_what_was_given_up_is_gone_and_its_addresses_open_nothing(vendor: world.Vendor) -> None:
    data = large()
    upload = opened(vendor, data)
    assert put(upload["parts"][0], pieces(data)[0]).status_code == 200
    assert lies(upload)
    assert vendor.api.call("DELETE", f"uploads/{upload['id']}").body["state"] == "aborted"
    assert not lies(upload)
    assert put(upload["parts"][1], pieces(data)[1]).status_code == 404
    assert not lies(upload)


@pytest.mark.case("E44")
def test_no_error_and_no_log_holds_a_signed_address(vendor: world.Vendor, caplog: Any) -> None:
    caplog.set_level(logging.INFO)
    data = bundle()
    upload = opened(vendor, data)
    signature = upload["parts"][0]["url"].partition("X-Amz-Signature=")[2][:64]
    caplog.clear()
    said = [
        complete(vendor, upload, [{"number": 1, "etag": "0" * 32}]),
        vendor.api.get(f"uploads/{upload['id']}"),
        vendor.api.call("DELETE", f"uploads/{upload['id']}"),
    ]
    assert [answer.status for answer in said] == [422, 200, 200]
    text = caplog.text + "".join(str(answer.body) + str(answer.headers) for answer in said)
    assert signature not in text
    assert "X-Amz-" not in text


def test_a_submission_is_checked_and_sealed_on_this_store_and_the_form_streams_to_it(
    vendor: world.Vendor,
) -> None:
    task_set: TaskSetVersion = world.task_set()
    submission = bring_to(vendor.submit(task_set, vendor.harness()), "preflight")
    assert submission.state == "preflight"
    assert submission.package is not None
    version = vendor.version(vendor.harness("streamed"))
    row = services.receive_stream(version, io.BytesIO(large()), by=vendor.actor)
    assert row.state == Upload.State.COMPLETE
