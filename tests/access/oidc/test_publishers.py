"""Registering, removing and registering again over the API: each ends in a clear state."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from django.test import Client

from accounts.models import Membership
from accounts.publishing.models import TrustedPublisher
from submissions.models import Harness
from tests.access.oidc.arranged import Job, fields
from tests.issuer import Issuer
from tests.pages.site import signed_in
from tests.submissions import world

pytestmark = pytest.mark.django_db


def send(client: Client, method: str, path: str, body: Any = None) -> world.Answer:
    """A call in a browser session."""
    found = client.generic(
        method,
        f"/api/v1/{path}",
        world._json(body) if body is not None else b"",
        content_type="application/json",
        headers={"idempotency-key": uuid.uuid4().hex},
    )
    return world.Answer(found.status_code, found.json() if found.content else {}, found.headers)


@pytest.fixture
def body(issuer: Issuer, harness: Harness) -> dict[str, Any]:
    return {"harness": str(harness.id), **fields(issuer.address)}


@pytest.mark.case("G38")
@pytest.mark.acceptance("access:3")
def test_register_remove_and_register_again(
    vendor: world.Vendor, issuer: Issuer, body: dict[str, Any]
) -> None:
    browser, job = signed_in(vendor.user), Job(issuer)
    assert job.exchange().code == "oidc_no_publisher"
    first = send(browser, "POST", "publishers", body)
    assert (first.status, first.body["state"]) == (201, "active")
    assert job.exchange().status == 201
    path = f"publishers/{first.body['id']}"
    twice = send(browser, "POST", "publishers", body)
    assert (twice.status, twice.code, twice.body["publisher"]) == (409, "publisher_exists", first.body["id"])
    removed = send(browser, "DELETE", path)
    assert (removed.status, removed.body["state"]) == (200, "removed")
    assert send(browser, "DELETE", path).body == removed.body
    assert job.exchange().code == "publisher_removed"
    again = send(browser, "POST", "publishers", body)
    assert (again.status, again.body["state"]) == (201, "active")
    assert again.body["id"] != first.body["id"]
    assert job.exchange().body["publisher"] == again.body["id"]
    listed = send(browser, "GET", "publishers").body["publishers"]
    assert [(row["id"], row["state"]) for row in listed] == [
        (again.body["id"], "active"),
        (first.body["id"], "removed"),
    ]


@pytest.mark.case("G38")
def test_a_second_publisher_of_a_harness_stands_beside_the_first(
    vendor: world.Vendor, issuer: Issuer, body: dict[str, Any]
) -> None:
    browser = signed_in(vendor.user)
    send(browser, "POST", "publishers", body)
    other = send(browser, "POST", "publishers", {**body, "workflow": "nightly.yml", "ref": "main"})
    assert other.body["workflow"] == ".github/workflows/nightly.yml"
    assert other.body["ref"] == "refs/heads/main"
    assert Job(issuer).exchange().status == 201
    assert TrustedPublisher.objects.filter(ended_at=None).count() == 2


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"issuer": "https://evil.invalid"}, "issuer"),
        ({"repository": "acme"}, "repository"),
        ({"repository": "acme/harness/more"}, "repository"),
        ({"owner_id": "acme"}, "owner_id"),
        ({"workflow": "../submit.yml"}, "workflow"),
        ({"workflow": "submit.yml@main"}, "workflow"),
        ({"ref": "refs/pull/1/merge"}, "ref"),
    ],
)
def test_what_no_job_could_ever_match_is_refused(
    vendor: world.Vendor, body: dict[str, Any], change: dict[str, str], field: str
) -> None:
    answer = send(signed_in(vendor.user), "POST", "publishers", {**body, **change})
    assert (answer.status, answer.code, answer.body["field"]) == (422, "publisher_invalid", field)
    assert not TrustedPublisher.objects.exists()


def test_only_a_person_in_a_session_registers_and_removes(
    vendor: world.Vendor, body: dict[str, Any], publisher: TrustedPublisher
) -> None:
    path = f"publishers/{publisher.id}"
    assert vendor.api.post("publishers", body).code == "credential_not_permitted"
    assert vendor.api.call("DELETE", path).code == "credential_not_permitted"
    assert vendor.api.get(path).body["state"] == "active"
    viewer = signed_in(world.vendor(role=Membership.Role.VIEWER).user)
    assert send(viewer, "POST", "publishers", body).code == "role_may_not_submit"


def test_anothers_publisher_and_harness_are_not_there(
    body: dict[str, Any], publisher: TrustedPublisher
) -> None:
    stranger = signed_in(world.vendor().user)
    assert send(stranger, "POST", "publishers", body).code == "unknown_reference"
    for method in ("GET", "DELETE"):
        theirs = send(stranger, method, f"publishers/{publisher.id}")
        missing = send(stranger, method, f"publishers/{uuid.uuid4()}")
        assert (theirs.status, theirs.body) == (missing.status, missing.body) == (404, missing.body)
    assert send(stranger, "GET", "publishers").body == {"publishers": []}
