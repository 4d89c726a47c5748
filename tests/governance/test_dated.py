"""The public calendar: what was confirmed before a date is frozen then, once, under its own name, for everybody."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client

from audit import live
from benchmark.models import TaskSetVersion
from client.audit.rules import Judge, Seen
from config import clock
from governance.confirmation import dating, policies
from governance.confirmation.models import ConfirmationRun, ReleaseDate
from governance.services import set_release_policy
from submissions.models import Submission
from tests.audit.test_log import Connect
from tests.factories import BY
from tests.governance import confirming
from tests.governance.confirming import SHOWN, confirmed, row_of, started
from tests.governance.test_silences import answer, opened
from tests.pages import site
from tests.submissions import world

pytestmark = pytest.mark.django_db


@pytest.fixture
def version() -> TaskSetVersion:
    return opened()


@pytest.fixture
def vendor() -> world.Vendor:
    return world.vendor()


def dated(label: str = "demo-1") -> ReleaseDate:
    call_command("release_dated", label)
    return ReleaseDate.objects.get(label=label)


def document(label: str = "demo-1") -> dict[str, Any]:
    answer = Client().get(f"/en/releases/{label}/results.json")
    assert answer.status_code == 200
    found: dict[str, Any] = json.loads(answer.content)
    return found


def values(vendor: world.Vendor, submission: Submission) -> dict[str, int | None]:
    body = vendor.api.get(f"submissions/{submission.id}/result").body
    return {name: row["value"] for name, row in body["domains"].items()}


def page(address: str, client: Client | None = None) -> str:
    answer = (client or Client()).get(address)
    assert answer.status_code == 200
    return answer.content.decode()


@pytest.mark.acceptance("governance:3")
def test_each_value_stands_under_the_name_of_its_own_version_in_every_channel(
    vendor: world.Vendor, version: TaskSetVersion
) -> None:
    """Three lines, one with a gated version that is confirmed; the confirmed values differ in every domain."""
    first = answer(vendor, version)
    gated = answer(vendor, version, 2, changed={domain: range(3) for domain in SHOWN})
    other = answer(vendor, version, 3, changed={domain: range(24) for domain in SHOWN})
    theirs = {"general": 9, "finance": 15, "supply_chain": 21, "manufacturing": 3}
    confirmed(vendor, gated)
    confirmed(vendor, other, right=theirs)
    before = values(vendor, first)
    dated()
    shown = {"general": 38, "finance": 63, "supply_chain": 88, "manufacturing": 13}
    assert values(vendor, gated) == SHOWN
    assert values(vendor, other) == shown
    assert values(vendor, first) == before == dict.fromkeys(SHOWN, 50)
    found = {row["harness_version"]: row for row in document()["results"]}
    expected = {gated.harness_version.version: SHOWN, other.harness_version.version: shown}
    assert {
        name: {domain: row["value"] for domain, row in entry["domains"].items()}
        for name, entry in found.items()
    } == expected
    public = page("/en/releases/demo-1/")
    for submission, want in ((gated, SHOWN), (other, shown)):
        section = public.split(submission.harness_version.version)[1].split("</section>")[0]
        for value in want.values():
            assert f'<td class="number">{value}</td>' in section
    browser = site.signed_in(vendor.user)
    for submission, want, label in ((gated, SHOWN, "demo-1"), (other, shown, "demo-1")):
        text = page(site.address("leaderboard:result", submission.id), browser)
        assert label in text
        assert all(f'<td class="number">{value}</td>' in text for value in want.values())
    assert "demo-1" not in page(site.address("leaderboard:result", first.id), browser)


@pytest.mark.django_db(transaction=True, databases=["default", "auditor"])
def test_the_document_is_frozen_and_its_hash_is_in_the_log(connect_as: Connect, sequence: Any) -> None:
    vendor, version = world.vendor(), opened()
    confirmed(vendor, answer(vendor, version))
    found = dated()
    sent = Client().get("/en/releases/demo-1/results.json").content
    assert hashlib.sha256(sent).hexdigest() == found.sha256
    ((body,),) = (
        connect_as("auditor").execute("SELECT body FROM audit_event WHERE kind = 'release.dated'").fetchall()
    )
    data = json.loads(bytes(body))["data"]
    assert data == {"label": "demo-1", "sha256": found.sha256, "results": 1, "withdrawn": 0}
    ((body,),) = (
        connect_as("auditor")
        .execute("SELECT body FROM audit_event WHERE kind = 'confirmation.dated'")
        .fetchall()
    )
    told = json.loads(bytes(body))["data"]["values"]
    assert {name: told[name]["value"] for name in SHOWN} == SHOWN
    assert dated().sha256 == found.sha256, "again changes nothing"
    for statement in (
        "UPDATE governance_releasedate SET document = '{}'",
        "UPDATE governance_confirmationrun SET state = 'withdrawn', ended_at = now()",
        "UPDATE governance_confirmationresult SET coverage = '0.50'",
    ):
        with (
            connect_as("owner") as owner,
            pytest.raises(psycopg.errors.IntegrityError, match="never changes"),
        ):
            owner.execute(statement)
    sequence()
    report = live.check()
    assert not [
        finding for finding in report.findings if "confirm" in str(finding) or "release" in str(finding)
    ]


def test_a_run_without_use_or_confirmation_is_still_found(
    transactional_db: None, connect_as: Connect
) -> None:
    vendor, version = world.vendor(), opened()
    confirmed(vendor, answer(vendor, version))
    rows = connect_as("auditor").execute("SELECT body FROM audit_event ORDER BY id").fetchall()
    bodies = [json.loads(bytes(body)) for (body,) in rows]

    def wrong(entries: list[dict[str, Any]]) -> list[str]:
        judge, found = Judge(), []
        for position, body in enumerate(entries):
            seen = Seen(
                position, body["kind"], body["subject"]["id"], body["outcome"], body["data"], withheld=-1
            )
            found += [text for text in judge.see(seen) if "confirm" in text or "held-out" in text]
        return found

    # Tests end runs by hand: what says that the run touched held-out tasks is put in here.
    run = str(ConfirmationRun.objects.get().run_id)
    first = str(Submission.objects.get().held_out_run_id)
    at = next(n for n, body in enumerate(bodies) if body["data"].get("after") == "confirmed")
    executed = [
        {"kind": "run.executed", "subject": {"id": name}, "outcome": "ok", "data": {}}
        for name in (first, run)
    ]
    whole = [*bodies[:at], *executed, *bodies[at:]]
    assert wrong(whole) == []
    start = next(
        n for n, body in enumerate(whole) if body["data"].get("run") == run and body["data"].get("after")
    )
    assert any("no use of the quota" in text for text in wrong([*whole[:start], *whole[start + 1 :]]))
    sealed = next(n for n, body in enumerate(whole) if body["kind"] == "confirmation.sealed")
    assert any("without a sealed result" in text for text in wrong([*whole[:sealed], *whole[sealed + 1 :]]))
    charge = next(n for n, body in enumerate(whole) if body["data"].get("charge") == "confirmation")
    assert any(
        "before anything was charged" in text for text in wrong([*whole[:charge], *whole[charge + 1 :]])
    )


def test_what_ends_after_a_date_waits_for_the_next(vendor: world.Vendor, version: TaskSetVersion) -> None:
    complete = answer(vendor, version)
    row = started(vendor, complete)
    dated("demo-1")
    assert document("demo-1")["results"] == []
    confirming.run_through(row)
    confirming.advanced(complete, 2, later=timedelta(minutes=20))
    dated("demo-2")
    assert [entry["id"] for entry in document("demo-2")["results"]] == [str(row.id)]
    assert document("demo-1")["results"] == []


def test_a_withdrawal_is_counted_without_a_name_and_only_once(
    vendor: world.Vendor, version: TaskSetVersion
) -> None:
    complete = answer(vendor, version)
    confirmed(vendor, complete)
    vendor.api.post(f"submissions/{complete.id}/confirmation/withdraw")
    dated("demo-1")
    assert document("demo-1")["withdrawn"] == {"c1": 1}
    assert document("demo-1")["results"] == []
    text = page("/en/releases/demo-1/")
    assert "1 confirmation run on c1 was withdrawn" in text
    assert "Vendor" not in text
    dated("demo-2")
    assert document("demo-2")["withdrawn"] == {}
    body = vendor.api.get(f"submissions/{complete.id}/confirmation").body
    assert (body["state"], body["published_in"]) == ("withdrawn", "demo-1")
    assert values(vendor, complete) == dict.fromkeys(SHOWN, 50)


def test_consent_taken_back_at_the_last_moment_is_heeded(
    vendor: world.Vendor, version: TaskSetVersion
) -> None:
    complete = answer(vendor, version)
    confirmed(vendor, complete)
    browser = site.signed_in(vendor.user)
    browser.post(site.address("submissions:consent", complete.id), {"consent": "withdrawn"})
    dated()
    assert (document()["results"], document()["withdrawn"]) == ([], {"c1": 1})
    assert row_of(complete).cause == policies.Cause.CONSENT_WITHDRAWN


def test_what_was_published_is_not_withdrawn(vendor: world.Vendor, version: TaskSetVersion) -> None:
    complete = answer(vendor, version)
    confirmed(vendor, complete)
    dated()
    refused = vendor.api.post(f"submissions/{complete.id}/confirmation/withdraw")
    assert (refused.status, refused.code) == (409, "confirmation_over")


def test_results_stand_by_name_and_never_by_score(version: TaskSetVersion) -> None:
    for number, right in enumerate((3, 24, 12)):
        found = world.vendor()
        found.organisation.name = "Vendor"
        submission = answer(found, version, number + 1)
        confirmed(found, submission, right=dict.fromkeys(SHOWN, right))
    dated()
    names = [entry["harness"] for entry in document()["results"]]
    assert names == sorted(names) == ["h1", "h2", "h3"]
    assert "total" not in json.dumps(document())


def test_planned_dates_take_place_by_themselves_and_not_before(
    vendor: world.Vendor, version: TaskSetVersion
) -> None:
    row = confirmed(vendor, answer(vendor, version))
    at = clock.now() + timedelta(days=3)
    call_command("release_plan", "2027-q1", "--at", at.isoformat())
    confirming.swept()
    assert ReleaseDate.objects.get().dated_at is None
    with pytest.raises(dating.NotDue):
        dating.date_release("2027-q1", by=BY)
    assert Client().get("/en/releases/2027-q1/").status_code == 404
    assert "ahead" in page("/en/releases/")
    confirming.swept(timedelta(days=3, seconds=1))
    assert [entry["id"] for entry in document("2027-q1")["results"]] == [str(row.id)]


def test_the_official_calendar_is_quarterly_with_monthly_errata(version: TaskSetVersion) -> None:
    for _ in range(2):
        call_command("release_plan", "--year", "2027")
    assert ReleaseDate.objects.filter(kind="results").count() == 4
    assert ReleaseDate.objects.filter(kind="errata").count() == 12
    assert ReleaseDate.objects.get(label="2027-q2").planned_for == datetime(2027, 6, 15, 8, tzinfo=UTC)
    set_release_policy(version, profile="official", budget_millibits=2_000_000, by=BY)
    with pytest.raises(CommandError, match="planned dates only"):
        call_command("release_dated", "demo-9")


@pytest.mark.django_db(transaction=True)
def test_those_who_serve_date_and_publish_nothing(connect_as: Connect) -> None:
    for role in ("web", "console", "execute", "auditor"):
        with connect_as(role) as served, pytest.raises(psycopg.errors.InsufficientPrivilege):
            served.execute("UPDATE governance_releasedate SET document = '{}'")
        with connect_as(role) as served, pytest.raises(psycopg.errors.InsufficientPrivilege):
            served.execute("UPDATE governance_confirmationrun SET release_date_id = NULL")


def test_dated_releases_and_a_withdrawal_at_once_agree_on_one_outcome(transactional_db: None) -> None:
    """Whoever comes first: each run enters one release only, as confirmed or as withdrawn, and stays so."""
    version = opened()
    vendors = [world.vendor() for _ in range(3)]
    found = [answer(vendor, version, number) for number, vendor in enumerate(vendors)]
    for vendor, submission in zip(vendors, found, strict=True):
        confirmed(vendor, submission)
    barrier = threading.Barrier(5)

    def act(step: Callable[[], object]) -> None:
        try:
            barrier.wait(30)
            step()
        finally:
            connection.close()

    def taken_back(vendor: world.Vendor, submission: Submission) -> Callable[[], object]:
        return lambda: vendor.api.post(f"submissions/{submission.id}/confirmation/withdraw")

    steps: list[Callable[[], object]] = [
        lambda: dating.date_on_command("demo-1", by=BY),
        lambda: dating.date_on_command("demo-2", by=BY),
        *(taken_back(*pair) for pair in zip(vendors, found, strict=True)),
    ]
    with ThreadPoolExecutor(len(steps)) as pool:
        list(pool.map(act, steps))
    dated("demo-3")
    documents = [document(label) for label in ("demo-1", "demo-2", "demo-3")]
    shown = [entry["id"] for body in documents for entry in body["results"]]
    counted = sum(body["withdrawn"].get("c1", 0) for body in documents)
    rows = list(ConfirmationRun.objects.all())
    assert sorted(shown) == sorted(str(row.id) for row in rows if row.state == "confirmed")
    assert len(shown) + counted == len(rows) == 3
