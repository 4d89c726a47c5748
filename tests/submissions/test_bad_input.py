"""Bad input over HTTP: a clear error with a code, nothing charged, nothing lost, never a 500."""

from __future__ import annotations

import json
import uuid
from datetime import timedelta
from typing import Any

import httpx
import pytest
from django.test import Client
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accounts import auditors
from accounts import services as accounts
from accounts.models import ApiToken
from benchmark.models import TaskSetVersion
from config import clock
from submissions import services
from submissions.models import Harness, HarnessVersion, Slot, Submission, Upload
from submissions.services.quarantine import PART_BYTES
from tests.factories import recorded
from tests.pages import site
from tests.submissions import world
from tests.submissions.bundles import bundle, card, entry, manifest, pack, sha256
from tests.submissions.test_submit import send
from tests.submissions.world import Answer, Api, Vendor

pytestmark = [pytest.mark.django_db, pytest.mark.acceptance("main-job:8")]


def clear(answer: Answer, status: int, code: str) -> None:
    """One shape, a known code, and nothing charged."""
    assert (answer.status, answer.code) == (status, code), answer.body
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert answer.body["type"] == f"/api/v1/problems/{code}"
    assert answer.body["status"] == status
    assert answer.body["title"]
    assert answer.body["detail"]
    assert not Slot.objects.filter(state__in=("reserved", "consumed")).exists()


def opened(vendor: Vendor, version: HarnessVersion, data: bytes, **declared: Any) -> Answer:
    body = {"harness_version": str(version.id), "sha256": sha256(data), "size": len(data)} | declared
    return vendor.api.post("uploads", body)


def uploaded(vendor: Vendor, version: HarnessVersion, data: bytes, sent: bytes) -> Answer:
    """Declare `data`, send `sent`, complete."""
    upload = opened(vendor, version, data).body
    tags = send(upload["parts"], sent)
    return vendor.api.post(f"uploads/{upload['id']}/complete", {"parts": tags})


@pytest.mark.case("G21")
def test_a_truncated_upload(vendor: Vendor, harness: Harness) -> None:
    """Two parts declared, the second one never sent."""
    version, data = vendor.version(harness), bytes(PART_BYTES + 100)
    upload = opened(vendor, version, data).body
    assert [part["size"] for part in upload["parts"]] == [PART_BYTES, 100]
    tags = send(upload["parts"][:1], data)
    clear(vendor.api.post(f"uploads/{upload['id']}/complete", {"parts": tags}), 422, "upload_truncated")
    row = Upload.objects.get()
    assert (row.state, row.failure) == ("failed", "upload_truncated")
    assert row.removed_at is not None


@pytest.mark.case("S27")
def test_a_part_is_as_long_as_declared_or_refused_by_the_store(vendor: Vendor, harness: Harness) -> None:
    data = bundle()
    (part,) = opened(vendor, vendor.version(harness), data).body["parts"]
    assert "content-length" in part["url"]
    for wrong in (data[:-1], data + b"x"):
        assert httpx.put(part["url"], content=wrong).status_code == 403
    assert httpx.put(part["url"], content=data).status_code == 200


@pytest.mark.case("S28")
def test_a_wrong_hash(vendor: Vendor, harness: Harness, task_set: TaskSetVersion) -> None:
    version, data = vendor.version(harness), bundle()
    clear(uploaded(vendor, version, data, data[:-1] + b"x"), 422, "hash_mismatch")
    body = {
        "harness_version": str(version.id),
        "task_set": task_set.label,
        "upload": str(Upload.objects.get().id),
    }
    clear(vendor.api.post("submissions", body), 409, "upload_not_complete")


def test_a_declaration_that_cannot_be(vendor: Vendor, harness: Harness) -> None:
    version = vendor.version(harness)
    clear(opened(vendor, version, b"x", size=513 * 1024 * 1024), 413, "package_too_large")
    clear(opened(vendor, version, b"x", size=0), 422, "package_empty")
    for wrong in ({"size": "many"}, {"size": 1.5}, {"size": 10**17}, {"size": None}, {"sha256": "A" * 64}):
        clear(opened(vendor, version, b"x", **wrong), 422, "invalid_field")


def test_nothing_or_other_parts_arrived(vendor: Vendor, harness: Harness) -> None:
    version, data = vendor.version(harness), bundle()
    upload = opened(vendor, version, data).body
    answer = vendor.api.post(f"uploads/{upload['id']}/complete", {"parts": [{"number": 1, "etag": "0" * 32}]})
    clear(answer, 422, "upload_parts_wrong")
    again = vendor.api.post(f"uploads/{upload['id']}/complete", {"parts": [{"number": 1, "etag": "x"}]})
    clear(again, 409, "upload_not_open")


@pytest.mark.parametrize(
    ("data", "code", "named"),
    [
        (pack([entry("../x", b"")]), "entry_traversal", "../x"),
        (pack([], manifest(extra='colour = "red"\n')), "manifest_unknown_key", "colour"),
        (
            pack([], manifest(extra='[[models]]\nrole="a"\ndialect="openai-chat"\nupstream="c"\n')),
            "model_not_registered",
            "c",
        ),
        (pack([entry("bomb", bytes(3 * 1024 * 1024))]), "package_unpacked_too_large", "bomb"),
    ],
)
@pytest.mark.case("E43")
def test_a_bad_package_is_rejected_and_says_where(
    data: bytes,
    code: str,
    named: str,
    vendor: Vendor,
    harness: Harness,
    task_set: TaskSetVersion,
    monkeypatch: Any,
) -> None:
    from submissions.intake import Limits, inspect

    small = Limits(unpacked=1024 * 1024)
    monkeypatch.setattr("submissions.services.checking.inspect", lambda source: inspect(source, small))
    version = vendor.version(harness, "1.0")
    done = uploaded(vendor, version, data, data)
    body = {"harness_version": str(version.id), "task_set": task_set.label, "upload": done.body["id"]}
    receipt = vendor.api.post("submissions", body)
    assert receipt.status == 202
    services.check(uuid.UUID(receipt.body["id"]))
    shown = vendor.api.get(f"submissions/{receipt.body['id']}").body
    assert (shown["state"], shown["outcome"]["code"]) == ("rejected", code)
    assert named in json.dumps(shown["outcome"]["facts"])
    assert named in shown["outcome"]["detail"]
    assert shown["charge"]["counts"] is False
    assert shown["charge"]["cooldown_until"] is None


def test_a_wrong_card_names_each_place(vendor: Vendor, harness: Harness) -> None:
    wrong = card()
    wrong["layers"]["tools"]["colour"] = "red"
    answer = vendor.api.post(f"harnesses/{harness.id}/versions", {"version": "1.0", "card": wrong})
    clear(answer, 422, "card_invalid")
    assert answer.body["errors"] == [{"path": "$.layers.tools", "message": "has unknown keys: colour"}]


def test_an_unknown_key_in_a_body(vendor: Vendor) -> None:
    answer = vendor.api.post("harnesses", {"name": "a", "colour": "red"})
    clear(answer, 422, "invalid_field")
    assert answer.body["errors"] == [{"path": "$.colour", "message": "unknown field"}]


@pytest.mark.case("S24")
def test_a_foreign_id_is_like_one_that_does_not_exist(
    vendor: Vendor, other: Vendor, harness: Harness, task_set: TaskSetVersion
) -> None:
    foreign = other.order(task_set, other.harness())
    own = vendor.order(task_set, harness)
    theirs, mine = world.body_of(foreign), world.body_of(own)
    for field in ("harness_version", "upload"):
        stolen = vendor.api.post("submissions", mine | {field: theirs[field]})
        missing = vendor.api.post("submissions", mine | {field: str(uuid.uuid4())})
        clear(stolen, 422, "unknown_reference")
        assert stolen.body == missing.body
    clear(vendor.api.post("submissions", mine | {"task_set": "none"}), 422, "unknown_reference")
    submission = other.submit(task_set, foreign.harness_version.harness)
    paths = [
        ("GET", f"harnesses/{foreign.harness_version.harness_id}"),
        ("POST", f"harnesses/{foreign.harness_version.harness_id}/versions"),
        (
            "GET",
            f"versions/{foreign.harness_version.id}",
        ),
        ("GET", f"uploads/{foreign.upload.id}"),
        ("DELETE", f"uploads/{foreign.upload.id}"),
        ("POST", f"uploads/{foreign.upload.id}/complete"),
        ("GET", f"submissions/{submission.id}"),
        ("POST", f"submissions/{submission.id}/cancel"),
        ("POST", f"submissions/{submission.id}/choice"),
        ("GET", f"submissions/{submission.id}/preflight"),
    ]
    for method, path in paths:
        identifier = path.split("/")[1]
        found = vendor.api.call(method, path, {})
        missing = vendor.api.call(method, path.replace(identifier, str(uuid.uuid4())), {})
        assert (found.status, found.code) == (404, "not_found"), path
        assert found.body == missing.body


@pytest.mark.case("G35")
def test_credentials_that_do_not_count(vendor: Vendor, task_set: TaskSetVersion) -> None:
    clear(Api("").get("harnesses"), 401, "not_authenticated")
    clear(Api("lgb_nonsense").get("harnesses"), 401, "token_malformed")
    clear(Api("a b").get("harnesses"), 401, "token_malformed")
    clear(Api("\u00e9").get("harnesses"), 401, "token_malformed")
    with recorded(vendor.token):
        ApiToken.objects.update(expiry=clock.now() - timedelta(seconds=1))
    clear(vendor.api.get("harnesses"), 401, "token_expired")
    assert "WWW-Authenticate" in vendor.api.get("harnesses").headers
    with recorded(vendor.token):
        ApiToken.objects.update(expiry=clock.now() + timedelta(days=1))
    accounts.revoke_token(vendor.token, by=world.BY)
    clear(vendor.api.get("harnesses"), 401, "token_revoked")


def test_a_suspended_account_is_a_stranger_at_once(
    vendor: Vendor, harness: Harness, task_set: TaskSetVersion
) -> None:
    body = world.body_of(vendor.order(task_set, harness))
    accounts.suspend_user(vendor.user, by=world.BY)
    clear(vendor.api.post("submissions", body), 401, "account_suspended")


def test_standing_of_organisation_and_role(
    harness: Harness, vendor: Vendor, task_set: TaskSetVersion
) -> None:
    fresh = world.vendor(verified=False)
    order = fresh.order(task_set, fresh.harness())
    clear(fresh.api.post("submissions", world.body_of(order)), 403, "organisation_not_verified")
    order = vendor.order(task_set, harness)
    accounts.suspend_organisation(vendor.organisation, by=world.BY)
    clear(vendor.api.post("submissions", world.body_of(order)), 403, "organisation_suspended")
    viewer = world.vendor(role="viewer")
    clear(viewer.api.post("harnesses", {"name": "a"}), 403, "role_may_not_submit")
    auditing = world.vendor()
    auditors.mark_audit_organisation(auditing.organisation, by=world.BY)
    clear(auditing.api.post("harnesses", {"name": "a", "relation": "owner"}), 403, "organisation_audits")


@pytest.mark.case("G40")
def test_a_token_of_other_scope_or_harness(
    vendor: Vendor, harness: Harness, task_set: TaskSetVersion
) -> None:
    def api(**limits: Any) -> Api:
        limits.setdefault("scopes", ["read", "submit"])
        return Api(accounts.issue_token(vendor.user, vendor.organisation, name="t", by=world.BY, **limits)[1])

    body = world.body_of(vendor.order(task_set, harness))
    reader = api(scopes=["read"]).post("submissions", body)
    clear(reader, 403, "scope_missing")
    assert reader.body["scope"] == "submit"
    clear(api(scopes=["submit"]).get("harnesses"), 403, "scope_missing")
    second = vendor.harness("second")
    bound = api(harness_id=second.id)
    answer = bound.post("submissions", body)
    clear(answer, 403, "token_harness_mismatch")
    assert "second" in answer.body["detail"]
    clear(bound.get(f"harnesses/{harness.id}"), 403, "token_harness_mismatch")
    clear(bound.post("harnesses", {"name": "third"}), 403, "token_harness_mismatch")
    assert [row["name"] for row in bound.get("harnesses").body["harnesses"]] == ["second"]


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b"", 422, "invalid_field"),
        (b"{", 400, "malformed_json"),
        (b"\xff", 400, "malformed_json"),
        (b'{"name": "a\\u0000"}', 400, "malformed_json"),
        (b'{"name": "\\ud800"}', 400, "malformed_json"),
        (b'{"name": NaN}', 400, "malformed_json"),
        (b'{"name": 1e999}', 400, "malformed_json"),
        (b'{"name": ' + b"9" * 5000 + b"}", 400, "malformed_json"),
        (b'{"name": "a", "name": "b"}', 400, "malformed_json"),
        (b"[" * 100_000, 400, "malformed_json"),
        (b'{"name": ' + b"[" * 40 + b"]" * 40 + b"}", 400, "malformed_json"),
        (b"[]", 422, "invalid_field"),
        (b'"text"', 422, "invalid_field"),
        (b"null", 422, "invalid_field"),
        (b'{"name": {"a": 1}}', 422, "invalid_field"),
        (b'{"name": true}', 422, "invalid_field"),
        (b'{"name": ""}', 422, "invalid_field"),
        (b'{"name": "../x"}', 422, "invalid_field"),
        (b'{"name": "a", "relation": "friend"}', 422, "invalid_field"),
        (b'{"name": "' + b"a" * (2 * 1024 * 1024) + b'"}', 413, "body_too_large"),
    ],
)
def test_bodies_that_are_none(vendor: Vendor, body: bytes, status: int, code: str) -> None:
    clear(vendor.api.post("harnesses", body), status, code)


@pytest.mark.case("E49")
def test_every_error_has_one_shape(vendor: Vendor) -> None:
    clear(vendor.api.get("nowhere"), 404, "not_found")
    clear(vendor.api.get("harnesses/not-an-id"), 404, "not_found")
    clear(vendor.api.get("harnesses/%00"), 404, "not_found")
    clear(Api("").post("nowhere", {}), 404, "not_found")
    wrong = vendor.api.call("PUT", "harnesses", {})
    clear(wrong, 405, "method_not_allowed")
    assert "POST" in wrong.headers["Allow"]
    clear(vendor.api.post("harnesses", b"a=b", content_type="text/plain"), 415, "unsupported_media_type")
    clear(vendor.api.get("harnesses", headers={"accept": "text/csv"}), 406, "not_acceptable")
    clear(vendor.api.get("submissions?state=odd&limit=0"), 422, "invalid_field")
    clear(vendor.api.get("submissions?before=%00"), 422, "invalid_field")
    clear(vendor.api.get("schemas/harness-card/99"), 404, "not_found")
    clear(vendor.api.get("problems/no-such-code"), 404, "not_found")


def test_a_session_needs_the_token_of_a_fresh_page(vendor: Vendor) -> None:
    browser = Client(enforce_csrf_checks=True, raise_request_exception=False)
    site.sign_in(browser, vendor.user)
    assert browser.get("/api/v1/harnesses").status_code == 200
    sent = browser.post("/api/v1/harnesses", {"name": "a"}, content_type="application/json")
    clear(Answer(sent.status_code, sent.json(), sent.headers), 403, "csrf_failed")


def test_a_token_without_the_scope_learns_nothing_by_head(vendor: Vendor) -> None:
    token = accounts.issue_token(vendor.user, vendor.organisation, name="t", scopes=["submit"], by=world.BY)
    assert (
        Client().head("/api/v1/harnesses", headers={"authorization": f"Bearer {token[1]}"}).status_code == 403
    )


def test_quarantine_is_no_storage(vendor: Vendor, harness: Harness, monkeypatch: Any) -> None:
    monkeypatch.setattr("submissions.services.uploads.AT_ONCE", 2)
    version = vendor.version(harness)
    answers = [opened(vendor, version, bundle()) for _ in range(3)]
    assert [answer.status for answer in answers] == [201, 201, 429]
    clear(answers[2], 429, "too_many_uploads")
    vendor.api.call("DELETE", f"uploads/{answers[0].body['id']}")
    assert opened(vendor, version, bundle()).status == 201


def test_a_failure_of_ours_says_nothing_of_its_text(vendor: Vendor, monkeypatch: Any) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("secret of the house")

    monkeypatch.setattr("submissions.queries.harnesses_of", fail)
    answer = vendor.api.get("harnesses")
    clear(answer, 500, "internal_error")
    assert "secret" not in json.dumps(answer.body)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=10,
)
FIELDS = (
    "name",
    "title",
    "relation",
    "version",
    "card",
    "sha256",
    "size",
    "harness_version",
    "parts",
    "upload",
    "task_set",
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(body=JSON | st.dictionaries(st.sampled_from(FIELDS), JSON, max_size=5), path=st.integers(0, 4))
def test_no_body_is_a_failure_of_ours(vendor: Vendor, body: Any, path: int) -> None:
    harness = Harness.objects.filter(organisation=vendor.organisation).first() or vendor.harness()
    upload = Upload.objects.first() or vendor.upload(vendor.version(harness))
    paths = [
        "harnesses",
        f"harnesses/{harness.id}/versions",
        "uploads",
        f"uploads/{upload.id}/complete",
        "submissions",
    ]
    answer = vendor.api.post(paths[path], body)
    assert answer.status in (400, 422) or answer.status < 300
    assert not Submission.objects.exists()
