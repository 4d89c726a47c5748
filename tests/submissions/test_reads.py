"""Reads are on record: deliveries before the body, polling condensed, refused reads without exception."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest
from django.db import connections
from django.http import HttpResponse
from django.test import RequestFactory
from django.urls import URLPattern, URLResolver, get_resolver

from audit import reads
from audit.models import ReadTally
from audit.texts import is_of
from benchmark.models import TaskSetVersion
from client.audit.rules import Judge, Seen
from config import clock
from submissions.delivery import Undeclared, delivers, delivery_of, hand_out
from submissions.models import Submission
from tests.pages import site
from tests.pages.site import address, signed_in
from tests.submissions import world
from tests.submissions.unmarked import ELSEWHERE, UNMARKED

pytestmark = pytest.mark.django_db(transaction=True)
Connect = Callable[[str], psycopg.Connection[Any]]
NOON = datetime(2026, 11, 30, 12, 1, tzinfo=UTC)
CHANGING = re.compile(
    rb'name="csrfmiddlewaretoken" value="[^"]+"|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'
)
"""What of a page differs from request to request: its form's token, its own id, the id in its address."""
SERVING = "lingee_web, lingee_execute, lingee_sealed, lingee_console"


@pytest.fixture
def version() -> TaskSetVersion:
    return site.task_set()


@pytest.fixture
def vendor() -> world.Vendor:
    return world.vendor()


@pytest.fixture
def other() -> world.Vendor:
    return world.vendor()


@pytest.fixture
def complete(vendor: world.Vendor, version: TaskSetVersion) -> Submission:
    found = site.moved(site.submission(vendor, version), *site.TO_COMPLETE)
    site.preflight_result(found)
    site.release(found)
    return found


@pytest.fixture
def events(connect_as: Connect) -> Callable[..., list[dict[str, Any]]]:
    """`events("result.read")`: the bodies of the committed events of these kinds, oldest first."""
    auditor = connect_as("auditor")

    def bodies(*kinds: str) -> list[dict[str, Any]]:
        rows = auditor.execute("SELECT body FROM audit_event WHERE kind = ANY (%s) ORDER BY id", [[*kinds]])
        return [json.loads(body) for (body,) in rows]

    return bodies


Events = Callable[..., list[dict[str, Any]]]


@pytest.fixture
def deaf(connect_as: Connect) -> Callable[[], object]:
    """`deaf()`: from now on the log takes no event from anybody who serves."""
    return lambda: connect_as("owner").execute(f"REVOKE INSERT (body) ON audit_event FROM {SERVING}")


# --- deliveries --------------------------------------------------------------------------------------


@pytest.mark.acceptance("log:8")
def test_each_delivery_names_what_was_sent_and_how_exactly(
    vendor: world.Vendor, complete: Submission, events: Events
) -> None:
    sent = vendor.api.get(f"submissions/{complete.id}/result").body
    signed_in(vendor.user).get(address("leaderboard:result", complete.id))
    by_api, by_page = events("result.read")
    assert by_api["data"]["surface"] == "api-result"
    assert (by_api["actor"]["kind"], by_api["actor"]["id"]) == ("token", str(vendor.token.public_id))
    assert (by_page["data"]["surface"], by_page["actor"]["kind"]) == ("leaderboard:result", "person")
    text = json.dumps(sent, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    for event in (by_api, by_page):
        assert event["subject"] == {"id": str(complete.id), "type": "submission"}
        assert event["data"]["precision"] == "value ± h on the 1-point grid"
        assert is_of(event["data"]["representation"], text)
        assert not is_of(event["data"]["representation"], text.replace("46", "47"))


def test_cards_and_public_runs_are_deliveries_too(
    vendor: world.Vendor, complete: Submission, events: Events
) -> None:
    version = complete.harness_version
    browser = signed_in(vendor.user)
    assert vendor.api.get(f"versions/{version.id}").status == 200
    assert vendor.api.get(f"submissions/{complete.id}/preflight").status == 200
    for name in ("submissions:version", "submissions:card_document"):
        assert browser.get(address(name, version.id)).status_code == 200
    assert browser.get(address("submissions:new_version", version.harness_id)).status_code == 200
    assert browser.get(address("submissions:preflight", complete.id)).status_code == 200
    task = vendor.api.get(f"submissions/{complete.id}/preflight").body["runs"][0]["task"]
    assert browser.get(address("submissions:preflight_run", complete.id, task, 0)).status_code == 200
    assert [event["data"]["surface"] for event in events("card.read")] == [
        *("api-version", "submissions:version", "submissions:card_document", "submissions:new_version")
    ]
    assert [event["data"]["surface"] for event in events("preflight.read")] == [
        *("api-preflight", "submissions:preflight", "api-preflight", "submissions:preflight_run")
    ]


PAGES = ("leaderboard:result", "submissions:submission", "submissions:preflight", "submissions:receipt")
ANSWERS = ("submissions/{}/result", "submissions/{}", "submissions/{}/preflight", "submissions", "quota")


@pytest.mark.acceptance("log:8")
def test_what_cannot_be_recorded_is_not_delivered(
    vendor: world.Vendor, complete: Submission, deaf: Callable[[], object], sequence: Callable[[], int]
) -> None:
    sequence()
    deaf()
    browser = signed_in(vendor.user)
    for name in (*PAGES, "submissions:cancel"):
        page = browser.get(address(name, complete.id))
        assert (page.status_code, page.headers["Retry-After"]) == (503, "5"), name
        assert b"read_not_recorded" in page.content
        for word in (b"\xc2\xb1", b"log of", str(complete.package_digest).encode(), b"tlog-proof"):
            assert word not in page.content
    home = browser.get(address("leaderboard:home"))
    assert home.status_code == 503
    for path in (*ANSWERS, "submissions/{}/receipt"):
        answer = vendor.api.get(path.format(complete.id))
        assert (answer.status, answer.code, answer.headers["Retry-After"]) == (503, "read_not_recorded", "5")
        assert set(answer.body) == {"type", "title", "status", "detail", "code", "remedy", "help"}
    version = vendor.api.get(f"versions/{complete.harness_version_id}")
    assert (version.status, "card" in version.body) == (503, False)
    missing = vendor.api.get(f"submissions/{world.uuid.uuid4()}")
    assert (missing.status, missing.code) == (503, "read_not_recorded")


def test_a_view_that_does_not_say_what_it_delivers_fails(vendor: world.Vendor) -> None:
    request = RequestFactory().get("/")
    request.resolver_match = None

    @delivers("result")
    def silent(_request: Any) -> HttpResponse:
        return HttpResponse("46")

    @delivers("submission")
    def wrong(asked: Any) -> HttpResponse:
        hand_out(asked, "result", "x", "46", by=vendor.actor)
        return HttpResponse("46")

    @delivers("result")
    def nothing(_request: Any) -> HttpResponse:
        return HttpResponse(status=404)

    for view in (silent, wrong):
        with pytest.raises(Undeclared):
            view(request)
    assert nothing(request).status_code == 404


def _views(resolver: URLResolver, space: str = "") -> Iterator[tuple[str, Any]]:
    for entry in resolver.url_patterns:
        if isinstance(entry, URLPattern):
            yield f"{space}{entry.name}", entry.callback
        else:
            yield from _views(entry, f"{space}{entry.namespace}:" if entry.namespace else space)


def test_every_view_is_marked_or_says_why_not() -> None:
    unmarked = {name for names in UNMARKED.values() for name in names}
    found = {name: delivery_of(view) for name, view in _views(get_resolver())}
    ours = {name: kind for name, kind in found.items() if not name.startswith(ELSEWHERE)}
    assert {name for name, kind in ours.items() if kind is None} == unmarked
    assert {kind for kind in ours.values() if kind} == {
        *("result", "submission", "preflight", "quota", "card", "receipt", "entry", "audit_room"),
        *("registration", "evidence", "link"),
        *("appeal", "recheck", "rotation", "rotation_plan", "held_out", "problem"),
    }


# --- polling -----------------------------------------------------------------------------------------


def test_polling_is_an_event_when_it_shows_news_and_a_count_otherwise(
    vendor: world.Vendor, version: TaskSetVersion, events: Events
) -> None:
    submission = vendor.submit(version, vendor.harness())
    path = f"submissions/{submission.id}"
    with clock.frozen(NOON):
        for _ in range(5):
            vendor.api.get(path)
    site.moved(submission, *site.TO_RUNNING[:1])
    with clock.frozen(NOON + timedelta(minutes=3)):
        for _ in range(4):
            vendor.api.get(path)
        assert reads.close_windows() == 0, "the window is still open"
    with clock.frozen(NOON + timedelta(minutes=14, seconds=1)):
        vendor.api.get(path)
    shown = events("submission.status_read")
    assert [event["data"]["change"] for event in shown] == ["first", "changed"]
    (summary,) = events("submission.status_polled")
    assert summary["data"] == {
        "count": 7,
        "since": "2026-11-30T12:00:00.000000Z",
        "surface": "api-submission",
    }
    assert summary["actor"] == shown[0]["actor"]
    assert summary["subject"] == {"id": str(submission.id), "type": "submission"}


def test_a_page_that_refuses_shows_the_state_as_well_and_says_so(
    vendor: world.Vendor, version: TaskSetVersion, events: Events
) -> None:
    submission = vendor.submit(version, vendor.harness())
    browser = signed_in(vendor.user)
    assert browser.get(address("submissions:receipt", submission.id)).status_code == 409
    (shown,) = events("submission.status_read")
    assert shown["data"]["surface"] == "submissions:receipt"
    assert shown["subject"]["id"] == str(submission.id)


def test_the_sweep_closes_a_window_that_nobody_reads_after(
    vendor: world.Vendor, version: TaskSetVersion, events: Events
) -> None:
    submission = vendor.submit(version, vendor.harness())
    browser = signed_in(vendor.user)
    with clock.frozen(NOON):
        for _ in range(3):
            assert browser.get(address("submissions:submission", submission.id)).status_code == 200
            assert browser.get(address("submissions:submissions")).status_code == 200
            assert browser.get(address("leaderboard:home")).status_code == 200
            assert vendor.api.get("quota").status == 200
    with clock.frozen(NOON + timedelta(minutes=14)):
        assert reads.close_windows() == 4
        assert reads.close_windows() == 0
    counts = events("submission.status_polled", "organisation.status_polled")
    assert {event["data"]["surface"]: event["data"]["count"] for event in counts} == {
        "submissions:submission": 2,
        "submissions:submissions": 2,
        "leaderboard:home": 2,
        "api-quota": 2,
    }


def test_two_readers_and_two_surfaces_are_counted_apart(
    vendor: world.Vendor, version: TaskSetVersion, events: Events
) -> None:
    submission = vendor.submit(version, vendor.harness())
    colleague = world.colleague(vendor)
    for reader in (vendor, colleague):
        reader.api.get(f"submissions/{submission.id}")
        signed_in(reader.user).get(address("submissions:submission", submission.id))
    shown = events("submission.status_read")
    assert [event["data"]["change"] for event in shown] == ["first"] * 4
    assert len({(event["actor"]["id"], event["data"]["surface"]) for event in shown}) == 4


def together(count: int, work: Callable[[threading.Barrier], object], at: datetime) -> None:
    """Run `work` in so many threads at that instant of the clock, and wait for them; what one raises is raised."""
    gate = threading.Barrier(count)

    def run() -> None:
        try:
            with clock.frozen(at):
                gate.wait()
                work(gate)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(count) as pool:
        for found in [pool.submit(run) for _ in range(count)]:
            found.result(60)


@pytest.mark.serial
def test_sixteen_threads_lose_no_read_and_see_news_once(vendor: world.Vendor, events: Events) -> None:
    def poll_often(gate: threading.Barrier) -> None:
        for face in ("before", "after"):
            for _ in range(12):
                reads.poll("submission", "s", face, surface="api-submission", by=vendor.actor)
            gate.wait()

    together(16, poll_often, NOON)
    shown = events("submission.status_read")
    assert [event["data"]["change"] for event in shown] == ["first", "changed"]
    assert ReadTally.objects.get().count == 16 * 24 - 2
    together(4, lambda _gate: reads.close_windows(), NOON + timedelta(minutes=15))
    (summary,) = events("submission.status_polled")
    assert summary["data"]["count"] == 16 * 24 - 2


@pytest.mark.serial
def test_sixteen_threads_of_refused_reads_are_numbered_without_gap(
    other: world.Vendor, events: Events
) -> None:
    def ask_often(_gate: threading.Barrier) -> None:
        for _ in range(10):
            reads.refused("x", surface="api-result", method="GET", by=other.actor)

    together(16, ask_often, NOON)
    assert [event["data"]["count"] for event in events("read.refused")] == [*range(1, 21), 50, 100, 150]
    assert ReadTally.objects.get().count == 160


def test_the_office_worker_may_close_windows_and_rewrite_nothing_else(connect_as: Connect) -> None:
    sealed = connect_as("sealed")
    sealed.execute("SELECT * FROM audit_read_tally WHERE count > 0 FOR UPDATE SKIP LOCKED")
    sealed.execute("UPDATE audit_read_tally SET count = 0")
    for statement in (
        "UPDATE audit_read_tally SET representation = ''",
        "DELETE FROM audit_read_tally",
        "INSERT INTO audit_read_tally SELECT * FROM audit_read_tally",
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            sealed.execute(statement)


def ask(who: world.Vendor, times: int, target: object = None) -> None:
    for _ in range(times):
        assert who.api.get(f"submissions/{target or world.uuid.uuid4()}/result").status == 404


# --- the verifier's rules ----------------------------------------------------------------------------


def test_the_verifier_accepts_these_events_and_finds_a_count_without_a_read(
    vendor: world.Vendor, other: world.Vendor, complete: Submission, connect_as: Connect
) -> None:
    with clock.frozen(NOON):
        for _ in range(2):
            vendor.api.get(f"submissions/{complete.id}")
        vendor.api.get(f"versions/{complete.harness_version_id}")
        vendor.api.get(f"submissions/{complete.id}/preflight")
        ask(other, 21)
    with clock.frozen(NOON + timedelta(hours=1)):
        reads.close_windows()
    rows = connect_as("auditor").execute("SELECT body FROM audit_event ORDER BY id").fetchall()
    entries = [json.loads(body) for (body,) in rows]
    assert _complaints(entries) == []
    without = [entry for entry in entries if entry["kind"] != "submission.status_read"]
    (complaint,) = _complaints(without)
    assert "was not read before" in complaint


def _complaints(entries: list[dict[str, Any]]) -> list[str]:
    judge, found = Judge(), []
    for at, entry in enumerate(entries):
        seen = Seen(at, entry["kind"], entry["subject"]["id"], entry["outcome"], entry["data"], -1)
        said = judge.see(seen)
        if ".read" in entry["kind"] or ".status_" in entry["kind"]:
            assert entry["kind"] in judge.known
            found += said
    return found
