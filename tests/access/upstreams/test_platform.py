"""The platform's own upstreams: kept by evaluation engineers in the console, seen by vendors by name only."""

from __future__ import annotations

import json
import uuid
from typing import Any

import psycopg
import pytest
from django.test import Client

from accounts.duties.refusals import DutyRefused
from accounts.duties.table import ASSIGNED, Duty
from audit import live
from evaluation.upstreams import services as workers
from evaluation.upstreams.models import Dialect, ModelUpstream, UpstreamCredential
from submissions import tickets
from submissions.services import upstreams
from tests.access.upstreams.arranged import LIMITS, SECRET, SNAPSHOT, registered, serving
from tests.access.upstreams.test_upstreams import BODY, WORKER
from tests.accounts.duties import Office, acting, member_of_staff, opened
from tests.accounts.test_erasure import Connect
from tests.pages.site import address, proofs, signed_in
from tests.submissions import world

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "auditor"])
OWN = BODY | {"name": "house-model", "exposure": "sealed", "ceiling": "500"}


@pytest.fixture
def office(transactional_db: None) -> Office:
    return opened()


@pytest.fixture
def engineer(office: Office) -> Client:
    return signed_in(office.holder(Duty.EVALUATION_ENGINEER))


def made(engineer: Client, **changes: str) -> ModelUpstream:
    answer = engineer.post(address("console:platform_upstream_new"), OWN | changes)
    assert answer.status_code == 302, answer.content.decode()
    row = ModelUpstream.objects.get(organisation=None, state="active")
    assert answer.headers["Location"] == address("console:platform_upstream", row.id)
    return row


@pytest.mark.acceptance("access:1")
def test_from_registering_to_retiring_on_the_console(
    engineer: Client, monkeypatch: pytest.MonkeyPatch, settings: Any, connect_as: Connect
) -> None:
    sent: list[str] = []
    monkeypatch.setattr(tickets, "_send", lambda name, arguments, queue: sent.extend(arguments))
    settings.OUTGOING_LOOPBACK = True
    vendor = world.vendor()
    with serving() as script:
        script.answers(Dialect.OPENAI_CHAT, model=OWN["snapshot"])
        row = made(engineer, base_url=script.url, dialect="openai-chat")
        assert "offers no model" not in engineer.get(address("console:platform_upstreams")).content.decode()
        early = engineer.post(address("console:platform_upstream_test", row.id))
        assert (early.status_code, b"upstream_no_credential" in early.content) == (409, True)
        place = address("console:platform_upstream_credential", row.id)
        assert engineer.post(place, {"credential": "short"}).status_code == 422
        assert engineer.post(place, {"credential": SECRET}).status_code == 302
        assert engineer.post(address("console:platform_upstream_test", row.id)).status_code == 302
        workers.make_trial(uuid.UUID(sent[0]), by=WORKER)
        shown = engineer.get(address("console:platform_upstream", row.id)).content.decode()
        assert "answered as its dialect demands" in shown
        assert SECRET not in shown
        assert script.asked[0]["headers"]["Authorization"] == f"Bearer {SECRET}"
    # A vendor sees the name, the model, the dialect and who can read the prompts; no address, no credential.
    listed = signed_in(vendor.user).get(address("submissions:upstreams")).content.decode()
    told = json.dumps(vendor.api.get("upstreams").body)
    for text in (listed, told):
        assert "house-model" in text
        assert OWN["snapshot"] in text
        assert "127.0.0.1" not in text
        assert "WXYZ" not in text
    assert vendor.api.get(f"upstreams/{row.id}").status == 404
    assert vendor.api.post(f"upstreams/{row.id}/test").status == 404
    page = address("console:platform_upstream_retire", row.id)
    assert "cannot be undone" in engineer.get(page).content.decode()
    assert engineer.post(page).status_code == 302
    again = engineer.post(page)
    assert (again.status_code, b"upstream_retired" in again.content) == (409, True)
    assert not UpstreamCredential.objects.exists()
    assert "house-model" not in json.dumps(vendor.api.get("upstreams").body)
    kinds = connect_as("auditor").execute(
        "SELECT kind, convert_from(body, 'UTF8') FROM audit_event WHERE subject_id = %s ORDER BY id",
        [str(row.id)],
    )
    rows = kinds.fetchall()
    ends = ["registered", "credential_set", "trial_asked", "tried", "retired"]
    assert [kind for kind, _ in rows] == [f"upstream.{end}" for end in ends]
    assert not any(SECRET in body or "house-model" in body for _, body in rows)
    assert [found for found in live.check().findings if found.table == "evaluation_modelupstream"] == []


@pytest.mark.acceptance("access:1")
def test_only_engineers_keep_them(office: Office, engineer: Client) -> None:
    row = made(engineer)
    names = ("", "_credential", "_test", "_retire")
    pages = [address(f"console:platform_upstream{name}", row.id) for name in names]
    pages += [address("console:platform_upstreams"), address("console:platform_upstream_new")]
    others = [
        member_of_staff(),
        *(office.holder(duty) for duty in ASSIGNED if duty != Duty.EVALUATION_ENGINEER),
    ]
    for person in (*others, world.vendor().user):
        browser = signed_in(person)
        for page in pages:
            assert browser.get(page).status_code in (404, 405), page
            assert browser.post(page, OWN | {"credential": SECRET}).status_code in (404, 405), page
    row.refresh_from_db()
    assert row.state == "active"
    endpoint = upstreams.Endpoint("openai-chat", "https://api.example.com/v1", SNAPSHOT, "sealed")
    for by in (acting(others[0]), world.vendor().actor):
        with pytest.raises(DutyRefused, match="decision_not_entitled"):
            upstreams.register_upstream(None, name="other", endpoint=endpoint, limits=LIMITS, by=by)
        with pytest.raises(DutyRefused, match="decision_not_entitled"):
            upstreams.set_credential(row.id, SECRET, by=by)
        with pytest.raises(DutyRefused, match="decision_not_entitled"):
            upstreams.retire_upstream(row.id, by=by)


def test_a_vendors_is_not_among_them_and_what_is_sealed_is_not_a_vendors(engineer: Client) -> None:
    vendor = world.vendor()
    theirs = registered(vendor)
    assert engineer.get(address("console:platform_upstream", theirs.id)).status_code == 404
    assert engineer.post(address("console:platform_upstream_retire", theirs.id)).status_code == 404
    for exposure in ("vendor_endpoint", "nonsense"):
        answer = engineer.post(address("console:platform_upstream_new"), OWN | {"exposure": exposure})
        assert answer.status_code == 422
    made(engineer, name="my-model")  # the vendor's has that name too
    taken = engineer.post(address("console:platform_upstream_new"), OWN | {"name": "my-model"})
    assert (taken.status_code, b"upstream_name_taken" in taken.content) == (409, True)


def test_who_signed_in_long_ago_proves_it_again(office: Office, engineer: Client) -> None:
    row = made(engineer)
    session = engineer.session
    old = proofs(office.holder(Duty.EVALUATION_ENGINEER), "password", "mfa")
    for record in old["account_authentication_methods"]:
        record["at"] -= 3600
    session.update(old)
    session.save()
    place = address("console:platform_upstream_credential", row.id)
    answer = engineer.post(place, {"credential": SECRET})
    assert (answer.status_code, "reauthenticate" in answer.headers["Location"]) == (302, True)
    assert not UpstreamCredential.objects.exists()


def test_the_console_writes_a_credential_and_cannot_read_it(engineer: Client, connect_as: Connect) -> None:
    row = made(engineer)
    engineer.post(address("console:platform_upstream_credential", row.id), {"credential": SECRET})
    for role in ("console", "web"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connect_as(role).execute("SELECT boxed FROM evaluation_upstreamcredential")
    stored = UpstreamCredential.objects.get(upstream=row)
    assert SECRET.encode() not in bytes(stored.boxed)
