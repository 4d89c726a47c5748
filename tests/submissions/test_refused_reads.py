"""Refused reads: the first are on record one by one, later ones by samples and a sum; the answer says nothing."""
# ruff: noqa: F811 - fixtures come from a sister module

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from audit import reads
from benchmark.models import TaskSetVersion
from config import clock
from submissions.models import Submission
from tests.pages.site import address, signed_in
from tests.submissions import world
from tests.submissions.test_reads import CHANGING, NOON, Events, ask, complete, events, other, vendor, version  # noqa: F401 - fixtures

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.acceptance("log:8")
@pytest.mark.case("S24")
def test_a_hundred_foreign_reads_leave_twenty_events_samples_and_the_sum(
    other: world.Vendor, complete: Submission, events: Events
) -> None:
    with clock.frozen(NOON):
        ask(other, 100, complete.id)
    refusals = events("read.refused")
    assert [event["data"]["count"] for event in refusals] == [*range(1, 21), 50, 100]
    assert {event["actor"]["id"] for event in refusals} == {str(other.token.public_id)}
    assert {event["outcome"] for event in refusals} == {"refused"}
    with clock.frozen(NOON + timedelta(minutes=58)):
        assert reads.close_windows() == 0
    with clock.frozen(NOON + timedelta(minutes=59)):
        assert reads.close_windows() == 1
        ask(other, 1)
    (total,) = events("read.refusals_counted")
    assert total["data"] == {"count": 100, "since": "2026-11-30T12:00:00.000000Z"}
    assert events("read.refused")[-1]["data"]["count"] == 1, "a new hour counts anew"


def test_twenty_are_on_record_one_by_one_and_need_no_sum(other: world.Vendor, events: Events) -> None:
    with clock.frozen(NOON):
        ask(other, 20)
    with clock.frozen(NOON + timedelta(hours=1)):
        reads.close_windows()
    assert len(events("read.refused")) == 20
    assert not events("read.refusals_counted")


@pytest.mark.case("G32")
def test_neither_the_answer_nor_the_event_tells_anothers_from_none(
    other: world.Vendor, complete: Submission, events: Events
) -> None:
    nobody = world.uuid.uuid4()
    browser = signed_in(other.user)
    names = ("submissions:submission", "submissions:receipt", "leaderboard:result", "submissions:preflight")
    for name in names:
        theirs, none = browser.get(address(name, complete.id)), browser.get(address(name, nobody))
        assert theirs.status_code == none.status_code == 404
        assert CHANGING.sub(b"", theirs.content) == CHANGING.sub(b"", none.content)
    paths = (
        "submissions/{}",
        "submissions/{}/result",
        "submissions/{}/receipt",
        "versions/{}",
        "harnesses/{}",
    )
    for path in paths:
        theirs_, none_ = other.api.get(path.format(complete.id)), other.api.get(path.format(nobody))
        assert (theirs_.status, theirs_.body) == (none_.status, none_.body)
    refusals = events("read.refused")
    assert len(refusals) == 2 * (len(names) + len(paths))
    for first, second in zip(refusals[::2], refusals[1::2], strict=True):
        differing = {name for name in first if first[name] != second[name]}
        assert differing <= {"subject", "nonce", "time", "data"}
        assert first["data"]["surface"] == second["data"]["surface"]
    text = json.dumps(refusals)
    assert str(complete.id) not in text
    assert str(nobody) not in text
    # The same thing asked for again has the same subject, so that who asks can be put together.
    again = other.api.get(f"submissions/{complete.id}")
    assert again.status == 404
    repeated = [event for event in events("read.refused") if event["data"]["surface"] == "api-submission"]
    assert repeated[0]["subject"] == repeated[-1]["subject"] != repeated[1]["subject"]


@pytest.mark.case("S24")
def test_anothers_id_in_a_query_or_a_body_is_a_refused_read(
    other: world.Vendor, complete: Submission, version: TaskSetVersion, events: Events
) -> None:
    harness = complete.harness_version.harness_id
    for path in (f"quota?harness={harness}", f"submissions?harness={harness}"):
        assert other.api.get(path).status == 404
    order = other.order(version, other.harness())
    body = world.body_of(order, upload=str(complete.upload_id))
    assert other.api.post("submissions", body).code == "unknown_reference"
    found = [(event["data"]["surface"], event["data"]["method"]) for event in events("read.refused")]
    assert found == [("api-quota", "GET"), ("api-submissions", "GET"), ("api-submissions", "POST")]


def test_guessing_tasks_under_ones_own_submission_is_on_record_guess_by_guess(
    vendor: world.Vendor, complete: Submission, events: Events
) -> None:
    browser = signed_in(vendor.user)
    for task in ("finance-held-out-0", "finance-held-out-1"):
        assert browser.get(address("submissions:preflight_run", complete.id, task, 0)).status_code == 404
    first, second = events("read.refused")
    assert first["data"]["surface"] == second["data"]["surface"] == "submissions:preflight_run"
    assert first["subject"] != second["subject"]
    assert not events("preflight.read")


def test_strangers_and_plain_mistakes_are_no_refused_reads(
    client: Any, vendor: world.Vendor, complete: Submission, events: Events
) -> None:
    client.get(address("submissions:submission", complete.id))
    client.get(f"/api/v1/submissions/{complete.id}")
    browser = signed_in(vendor.user)
    for path in ("/en/no/such/page/", "/api/v1/nothing", "/en/problems/no-such-code/"):
        assert browser.get(path).status_code == 404
    assert not events("read.refused")
