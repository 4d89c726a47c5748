"""Model upstreams as members meet them: registered, changed, tried and retired; the credential goes in only."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from django.conf import settings as site_settings
from django.test import Client

from accounts.models import Membership
from audit.events import system
from config import clock, vault
from evaluation.upstreams import services as workers
from evaluation.upstreams.models import Dialect, ModelUpstream, Outcome, UpstreamTrial
from submissions import tickets
from tests.access.upstreams.arranged import SECRET, SNAPSHOT, registered, serving, upstream_with_credential
from tests.pages import site
from tests.pages.site import address, signed_in
from tests.submissions import world

pytestmark = pytest.mark.django_db(transaction=True)
Connect = Callable[[str], psycopg.Connection[Any]]
WORKER = system("upstream-trial")
BODY: dict[str, Any] = {
    "name": "glm-snapshot",
    "dialect": "openai-chat",
    "base_url": "https://api.example.com/v1/",
    "snapshot": SNAPSHOT,
    "exposure": "third_party",
    "requests_per_minute": 60,
    "concurrency": 4,
    "ceiling": "250.00",
    "currency": "CNY",
}
ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@pytest.fixture
def vendor() -> world.Vendor:
    return world.vendor()


@pytest.fixture
def other() -> world.Vendor:
    return world.vendor()


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, list[str]]]:
    """The tickets that were sent."""
    found: list[tuple[str, list[str]]] = []
    monkeypatch.setattr(tickets, "_send", lambda name, arguments, queue: found.append((name, arguments)))
    return found


def call(vendor: world.Vendor, method: str, path: str, body: Any = None, **headers: str) -> Any:
    """A request of the API by a signed-in browser, which alone may change upstreams."""
    client = Client(raise_request_exception=False)
    site.sign_in(client, vendor.user)
    return client.generic(
        method,
        f"/api/v1/{path}",
        b"" if body is None else json.dumps(body),
        content_type="application/json",
        headers={"idempotency-key": uuid.uuid4().hex, "accept-language": "en", **headers},
    )


def events(connect_as: Connect, *kinds: str) -> list[dict[str, Any]]:
    rows = connect_as("auditor").execute(
        "SELECT body FROM audit_event WHERE kind = ANY (%s) ORDER BY id", [[*kinds]]
    )
    return [json.loads(body) for (body,) in rows]


def test_registered_changed_and_retired_over_the_api(vendor: world.Vendor, connect_as: Connect) -> None:
    made = call(vendor, "POST", "upstreams", BODY)
    assert made.status_code == 201, made.content
    found = made.json()
    assert found["base_url"] == "https://api.example.com/v1"
    assert (found["credential"], found["trial"], found["state"]) == (None, None, "active")
    place = f"upstreams/{found['id']}"
    changed = call(vendor, "PATCH", place, {"ceiling": "300.5", "concurrency": 8})
    assert (changed.json()["ceiling"], changed.json()["concurrency"]) == ("300.50", 8)
    assert changed.json()["name"] == "glm-snapshot"
    assert [row["id"] for row in vendor.api.get("upstreams").body["upstreams"]] == [found["id"]]
    assert call(vendor, "DELETE", place).status_code == 204
    assert vendor.api.get(place).body["state"] == "retired"
    for method, path, body in (
        ("PATCH", place, {"concurrency": 1}),
        ("DELETE", place, None),
        ("PUT", f"{place}/credential", {"credential": SECRET}),
        ("POST", f"{place}/test", None),
    ):
        refused = call(vendor, method, path, body)
        assert (refused.status_code, refused.json()["code"]) == (409, "upstream_retired")
    told = events(connect_as, "upstream.registered", "upstream.changed", "upstream.retired")
    assert [event["data"].get("ceiling") for event in told] == ["250.00 CNY", "300.50 CNY", None]
    assert "example.com" not in json.dumps(told)


def test_the_same_request_twice_registers_one(vendor: world.Vendor) -> None:
    answers = [call(vendor, "POST", "upstreams", BODY, **{"idempotency-key": "k"}) for _ in range(2)]
    assert answers[0].json() == answers[1].json()
    assert ModelUpstream.objects.count() == 1
    again = call(vendor, "POST", "upstreams", BODY)
    assert (again.status_code, again.json()["code"]) == (409, "upstream_name_taken")


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"base_url": "http://api.example.com/v1"}, "$.base_url"),
        ({"base_url": "https://127.0.0.1/v1"}, "$.base_url"),
        ({"base_url": "https://10.0.0.8/v1"}, "$.base_url"),
        ({"base_url": "https://[::1]/v1"}, "$.base_url"),
        ({"base_url": "https://me:secret@api.example.com/"}, "$.base_url"),
        ({"base_url": "https://api.example.com/?key=1"}, "$.base_url"),
        ({"base_url": "https://api.example.com:22/"}, "$.base_url"),
        ({"dialect": "grpc"}, "$.dialect"),
        ({"exposure": "sealed"}, "$.exposure"),
        ({"snapshot": "two words"}, "$.snapshot"),
        ({"name": "Not A Name"}, "$.name"),
        ({"ceiling": "0"}, "$.ceiling"),
        ({"ceiling": "1.005"}, "$.ceiling"),
        ({"currency": "XXX"}, "$.currency"),
        ({"concurrency": 0}, "$.concurrency"),
        ({"credential": SECRET}, "$.credential"),
    ],
)
def test_what_cannot_be_registered(vendor: world.Vendor, change: dict[str, Any], path: str) -> None:
    refused = call(vendor, "POST", "upstreams", BODY | change)
    assert (refused.status_code, refused.json()["code"]) == (422, "invalid_field")
    assert [error["path"] for error in refused.json()["errors"]] == [path]
    assert not ModelUpstream.objects.exists()


def test_the_credential_is_in_no_answer_row_event_or_page(vendor: world.Vendor, connect_as: Connect) -> None:
    row = registered(vendor)
    for secret in (SECRET, SECRET.replace("WXYZ", "LAST")):
        answer = call(vendor, "PUT", f"upstreams/{row.id}/credential", {"credential": secret})
        assert answer.status_code == 200
        assert answer.json()["credential"]["hint"] == secret[-4:]
        assert secret not in answer.content.decode()
    browser = signed_in(vendor.user)
    pages = [browser.get(address("submissions:upstream", row.id)), vendor.api.get(f"upstreams/{row.id}")]
    texts = [pages[0].content.decode(), json.dumps(pages[1].body)]
    texts += [
        str(found) for found in connect_as("owner").execute("SELECT * FROM evaluation_upstreamcredential")
    ]
    texts += [
        str(found)
        for found in connect_as("owner").execute("SELECT answer FROM submissions_idempotencyrecord")
    ]
    texts += [json.dumps(event) for event in events(connect_as, "upstream.credential_set")]
    assert len(texts) >= 5
    for text in texts:
        assert SECRET[:-4] not in text


def test_whoever_serves_people_writes_it_and_cannot_read_it(
    vendor: world.Vendor, connect_as: Connect
) -> None:
    """By right and by key: no SELECT on the box, and only a public key to seal with."""
    row = upstream_with_credential(vendor)
    for role in ("web", "console"):
        seen = (
            connect_as(role).execute("SELECT upstream_id, hint FROM evaluation_upstreamcredential").fetchall()
        )
        assert seen == [(row.id, "WXYZ")]
        for statement in (
            "SELECT boxed FROM evaluation_upstreamcredential",
            "SELECT * FROM evaluation_upstreamcredential",
            "DELETE FROM evaluation_upstreamcredential RETURNING boxed",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connect_as(role).execute(statement)
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        connect_as("auditor").execute("SELECT boxed FROM evaluation_upstreamcredential")
    for role in ("execute", "sealed"):
        found = connect_as(role).execute("SELECT boxed FROM evaluation_upstreamcredential").fetchone()
        (boxed,) = found or ()
    private, public = site_settings.VAULT_KEY_UPSTREAM or b"", site_settings.VAULT_BOX_UPSTREAM or b""
    assert vault.open_box(boxed, private=private, about=row.id.bytes).decode() == SECRET
    for wrong in (
        {"private": public, "about": row.id.bytes},
        {"private": private, "about": uuid.uuid4().bytes},
    ):
        with pytest.raises(vault.SealBroken):
            vault.open_box(boxed, **wrong)
    for changed in (boxed[:-1], boxed[:40] + bytes([boxed[40] ^ 1]) + boxed[41:], b"LBB1", b""):
        with pytest.raises(vault.SealBroken):
            vault.open_box(changed, private=private, about=row.id.bytes)


def test_a_retired_ones_credential_is_destroyed(vendor: world.Vendor, connect_as: Connect) -> None:
    row = upstream_with_credential(vendor)
    assert call(vendor, "DELETE", f"upstreams/{row.id}").status_code == 204
    assert connect_as("owner").execute("SELECT count(*) FROM evaluation_upstreamcredential").fetchone() == (
        0,
    )
    assert registered(vendor).name == row.name


def test_what_is_called_never_changes(vendor: world.Vendor, connect_as: Connect) -> None:
    registered(vendor)
    for change in (
        "base_url = 'https://x'",
        "snapshot = 'x'",
        "exposure = 'vendor_endpoint'",
        "organisation_id = null",
    ):
        with pytest.raises(psycopg.errors.IntegrityError, match="never changes"):
            connect_as("owner").execute(f"UPDATE evaluation_modelupstream SET {change}")
    with pytest.raises(psycopg.errors.IntegrityError, match="stays on record"):
        connect_as("owner").execute("DELETE FROM evaluation_modelupstream")


@pytest.fixture
def upstream(settings: Any) -> Iterator[Any]:
    settings.OUTGOING_LOOPBACK = True
    with serving() as script:
        yield script


def test_a_trial_is_asked_for_made_by_a_worker_and_read(
    vendor: world.Vendor, upstream: Any, sent: list[Any], connect_as: Connect
) -> None:
    upstream.answers(Dialect.ANTHROPIC_MESSAGES)
    upstream.body = upstream.body.replace(b"OK", b"a text that nobody is shown")
    row = registered(vendor, dialect=Dialect.ANTHROPIC_MESSAGES, base_url=upstream.url)
    place = f"upstreams/{row.id}"
    without = call(vendor, "POST", f"{place}/test")
    assert (without.status_code, without.json()["code"]) == (409, "upstream_no_credential")
    call(vendor, "PUT", f"{place}/credential", {"credential": SECRET})
    asked = vendor.api.post(f"{place}/test")
    assert (asked.status, asked.body["trial"]["outcome"]) == (202, None)
    assert sent == [("evaluation.tasks.try_upstream", [asked.body["trial"]["id"]])]
    for _ in range(2):  # a ticket that comes twice
        workers.make_trial(uuid.UUID(asked.body["trial"]["id"]), by=WORKER)
    found = vendor.api.get(place)
    assert found.body["trial"]["outcome"] == "ok"
    assert found.body["trial"]["milliseconds"] >= 0
    page = signed_in(vendor.user).get(address("submissions:upstream", row.id)).content.decode()
    assert "answered as its dialect demands" in page
    assert "a text that nobody" not in page + json.dumps(found.body)
    (told,) = events(connect_as, "upstream.tried")
    assert told["outcome"] == "ok"
    assert [one["headers"]["x-api-key"] for one in upstream.asked] == [SECRET]


def test_trials_are_limited_and_waiting_helps(vendor: world.Vendor, sent: list[Any]) -> None:
    row = upstream_with_credential(vendor)
    place = f"upstreams/{row.id}/test"
    assert vendor.api.post(place).status == 202
    refused = vendor.api.post(place)
    assert (refused.status, refused.code) == (429, "upstream_trial_too_soon")
    wait = int(refused.headers["Retry-After"])
    assert 1 <= wait <= 11
    workers.end_trial(UpstreamTrial.objects.get().id, workers.probe.Found(Outcome.TIMED_OUT), by=WORKER)
    with clock.shifted(timedelta(seconds=wait)):
        assert vendor.api.post(place).status == 202


def test_the_hour_of_an_organisation_is_limited(
    vendor: world.Vendor, other: world.Vendor, sent: list[Any]
) -> None:
    from submissions.services import upstreams

    row = upstream_with_credential(vendor)
    for turn in range(upstreams.TRIALS_AN_HOUR):
        with clock.shifted(timedelta(seconds=20 * turn)):
            assert call(vendor, "POST", f"upstreams/{row.id}/test").status_code == 202
            trial = UpstreamTrial.objects.get(ended_at=None)
            workers.end_trial(trial.id, workers.probe.Found(Outcome.OK, 1), by=WORKER)
    with clock.shifted(timedelta(minutes=20)):
        refused = call(vendor, "POST", f"upstreams/{row.id}/test")
        assert refused.status_code == 429
        assert int(refused.headers["Retry-After"]) > 30 * 60
        assert other.api.post(f"upstreams/{upstream_with_credential(other).id}/test").status == 202


def test_a_trial_that_nobody_made_is_given_up(vendor: world.Vendor, sent: list[Any]) -> None:
    row = upstream_with_credential(vendor)
    vendor.api.post(f"upstreams/{row.id}/test")
    workers.give_up_lost(by=WORKER)
    assert UpstreamTrial.objects.get().ended_at is None
    with clock.shifted(workers.LOST_AFTER + timedelta(seconds=1)):
        workers.give_up_lost(by=WORKER)
        assert UpstreamTrial.objects.get().outcome == "not_tried"
        assert vendor.api.post(f"upstreams/{row.id}/test").status == 202


def test_anothers_upstream_is_as_if_there_were_none(vendor: world.Vendor, other: world.Vendor) -> None:
    row, nobody = upstream_with_credential(vendor), uuid.uuid4()
    for method, path, body in (
        ("GET", "upstreams/{}", None),
        ("PATCH", "upstreams/{}", {"concurrency": 1}),
        ("DELETE", "upstreams/{}", None),
        ("PUT", "upstreams/{}/credential", {"credential": SECRET}),
        ("POST", "upstreams/{}/test", None),
    ):
        pair = [call(other, method, path.format(one), body) for one in (row.id, nobody)]
        assert [answer.status_code for answer in pair] == [404, 404]
        assert pair[0].content == pair[1].content
    browser = signed_in(other.user)
    for name in ("upstream", "change_upstream", "retire_upstream"):
        pages = [browser.get(address(f"submissions:{name}", one)) for one in (row.id, nobody)]
        assert [page.status_code for page in pages] == [404, 404]
        assert len({ID.sub("", page.content.decode()) for page in pages}) == 1
    for name in ("upstream_credential", "try_upstream"):
        assert browser.post(address(f"submissions:{name}", row.id), {"credential": SECRET}).status_code == 404
    row.refresh_from_db()
    assert row.state == "active"


def test_tokens_read_and_try_but_never_change(vendor: world.Vendor) -> None:
    row = upstream_with_credential(vendor)
    assert vendor.api.get("upstreams").status == 200
    for method, path, body in (
        ("POST", "upstreams", BODY),
        ("PATCH", f"upstreams/{row.id}", {"concurrency": 1}),
        ("DELETE", f"upstreams/{row.id}", None),
        ("PUT", f"upstreams/{row.id}/credential", {"credential": SECRET}),
    ):
        assert vendor.api.call(method, path, body).status == 403


def test_a_viewer_changes_nothing() -> None:
    viewer = world.vendor(role=Membership.Role.VIEWER)
    assert call(viewer, "POST", "upstreams", BODY).status_code == 403
    page = signed_in(viewer.user).post(address("submissions:new_upstream"), BODY)
    assert page.status_code == 403
    assert not ModelUpstream.objects.exists()


def test_by_the_pages_from_front_to_end(vendor: world.Vendor, sent: list[Any]) -> None:
    browser = signed_in(vendor.user)
    assert "listed here" in browser.get(address("submissions:upstreams")).content.decode()
    wrong = browser.post(address("submissions:new_upstream"), BODY | {"base_url": "https://127.0.0.1/"})
    assert wrong.status_code == 422
    made = browser.post(address("submissions:new_upstream"), BODY)
    row = ModelUpstream.objects.get()
    assert made.headers["Location"] == address("submissions:upstream", row.id)
    short = browser.post(address("submissions:upstream_credential", row.id), {"credential": "short"})
    assert short.status_code == 422
    assert (
        browser.post(address("submissions:upstream_credential", row.id), {"credential": SECRET}).status_code
        == 302
    )
    assert browser.post(address("submissions:try_upstream", row.id)).status_code == 302
    assert len(sent) == 1
    limits = {name: BODY[name] for name in ("name", "requests_per_minute", "concurrency", "currency")}
    assert browser.get(address("submissions:change_upstream", row.id)).status_code == 200
    assert (
        browser.post(address("submissions:change_upstream", row.id), limits | {"ceiling": "9"}).status_code
        == 302
    )
    row.refresh_from_db()
    assert str(row.ceiling) == "9.00"
    assert (
        "Retire the upstream" in browser.get(address("submissions:retire_upstream", row.id)).content.decode()
    )
    assert browser.post(address("submissions:retire_upstream", row.id)).status_code == 302
    listed = browser.get(address("submissions:upstreams")).content.decode()
    assert "retired" in listed
    assert SECRET not in listed


def test_who_signed_in_long_ago_proves_it_again_before_anything_changes(vendor: world.Vendor) -> None:
    row, browser = registered(vendor), signed_in(vendor.user)
    place = address("submissions:upstream_credential", row.id)
    with clock.shifted(timedelta(minutes=16)):
        assert browser.get(address("submissions:upstream", row.id)).status_code == 200
        for name, facts in (
            ("upstream_credential", {"credential": SECRET}),
            ("retire_upstream", {}),
            ("change_upstream", {"name": "other"}),
        ):
            led = browser.post(address(f"submissions:{name}", row.id), facts)
            assert (led.status_code, "reauthenticate" in led.headers["Location"]) == (302, True)
    row.refresh_from_db()
    assert (row.state, row.name, hasattr(row, "credential")) == ("active", "my-model", False)
    assert browser.get(place).headers["Location"] == address("submissions:upstream", row.id)
