"""The way of an appeal through pages and the API: the vendor's, the staff's, the expert's."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client

from benchmark.models import TaskSetVersion
from governance.appeals.models import Appeal
from governance.appeals.tasks import tick
from governance.records.queries import change_log, face
from submissions.returns import services as returns
from tests.accounts.duties import acting
from tests.governance.appeals import arranged
from tests.governance.appeals.arranged import Bench, filed, held, released
from tests.governance.records.arranged import indexed
from tests.pages import site
from tests.submissions import world

pytestmark = pytest.mark.django_db


@pytest.fixture
def version() -> TaskSetVersion:
    return site.task_set(line=9, lineage=9, account=9, in_flight=9)


@pytest.fixture
def vendor() -> world.Vendor:
    return world.vendor()


@pytest.fixture
def staff() -> Bench:
    return arranged.bench()


def text_of(browser: Client, name: str, *args: object, status: int = 200, language: str = "en") -> str:
    answer = browser.get(site.address(name, *args, language=language))
    assert answer.status_code == status
    return answer.content.decode()


def acted(browser: Client, appeal: Appeal, step: str, status: int = 302, **facts: Any) -> str:
    answer = browser.post(site.address("judging:appeal_act", appeal.id, step), facts)
    assert answer.status_code == status, answer.content.decode()
    return answer.content.decode()


@pytest.mark.case("U23")
@pytest.mark.acceptance("governance:8")
def test_an_appeal_against_a_hold_from_the_form_to_the_ruling(
    vendor: world.Vendor, version: TaskSetVersion, staff: Bench
) -> None:
    submission = held(vendor, version)
    indexed(version)
    browser = site.signed_in(vendor.user)
    place = site.address("appeals:new_appeal")
    form = browser.get(f"{place}?subject=hold&submission={submission.id}").content.decode()
    key = re.search(r'name="key" value="([0-9a-f]{32})"', form)
    assert key is not None
    assert f'value="{submission.id}" selected' in form
    facts = {
        "key": key[1],
        "subject": "hold",
        "submission": str(submission.id),
        "task_set": version.label,
        "grounds": "We changed our planner and nothing else.",
    }
    assert [browser.post(place, facts).status_code for _ in range(2)] == [302, 302]
    row = Appeal.objects.get()
    assert "filed" in text_of(browser, "appeals:appeals")
    arbiter, engineer, author = (
        site.signed_in(person) for person in (staff.arbiter, staff.engineer, staff.author)
    )
    assert str(vendor.organisation) in text_of(arbiter, "judging:appeals")
    acted(engineer, row, "admit")
    people: dict[str, Any] = {"expert": staff.author.pseudonym, "engineer": staff.engineer.pseudonym}
    acted(arbiter, row, "assign", **people)
    shown = text_of(author, "judging:opinion", row.id)
    assert "We changed our planner" in shown
    assert str(vendor.organisation) not in shown
    opinion = author.post(site.address("judging:opinion", row.id), {"text": "Plausible."})
    assert opinion.status_code == 302
    acted(engineer, row, "notes", text="The contrast is explained by the card.")
    acted(engineer, row, "draft", outcome="rejected", text="The rule was applied as published.")
    page = text_of(arbiter, "judging:appeal", row.id)
    assert "Plausible." in page
    assert "The contrast is explained" in page
    assert "Plausible." not in text_of(browser, "appeals:appeal", row.id)
    acted(arbiter, row, "approve")
    tick()
    page = text_of(browser, "appeals:appeal", row.id)
    (line,) = change_log(version)
    assert face(line)["facts"] == {"subject": "hold", "outcome": "rejected"}
    for words in ("The rule was applied as published.", "rejected", "ruled and carried out"):
        assert words in page
    for person in (staff.arbiter, staff.engineer, staff.author):
        assert person.email not in page


def test_before_a_version_opens_there_is_nothing_to_appeal_against(vendor: world.Vendor) -> None:
    browser = site.signed_in(vendor.user)
    assert "No task-set version is open yet" in text_of(browser, "appeals:new_appeal")
    assert "How many are free" not in text_of(browser, "appeals:appeals")


@pytest.mark.case("U23")
def test_a_user_with_a_conflict_gets_403_on_decide(
    vendor: world.Vendor, version: TaskSetVersion, staff: Bench
) -> None:
    submission = released(vendor, version)
    proposal = returns.propose(submission.id, reason="x", by=acting(staff.engineer))
    returns.withdraw(proposal.id, by=acting(staff.engineer))
    row = filed(vendor, version, submission=submission)
    engineer = site.signed_in(staff.engineer)
    page = text_of(engineer, "judging:appeal", row.id)
    assert "appeal_took_part" in page
    assert "Find it inadmissible" not in page
    assert "appeal_took_part" in acted(engineer, row, "admit", status=403)
    other = site.signed_in(staff.arbiter)
    acted(other, row, "admit")
    people: dict[str, Any] = {"expert": staff.author.pseudonym, "engineer": staff.engineer.pseudonym}
    assert "appeal_took_part" in acted(other, row, "assign", status=403, **people)
    row.refresh_from_db()
    assert row.state == "admitted"


def test_what_cannot_be_done_now_is_said_on_the_same_page(
    vendor: world.Vendor, version: TaskSetVersion, staff: Bench
) -> None:
    row = filed(vendor, version, subject="rule")
    assert "appeal_text_leaks" in acted(
        site.signed_in(staff.arbiter), row, "dismiss", 422, text="It is about finance-held-out-1."
    )
    arbiter = site.signed_in(staff.arbiter)
    assert "appeal_moved_on" in acted(arbiter, row, "approve", status=409)
    acted(arbiter, row, "dismiss", status=422)
    acted(arbiter, row, "nonsense", status=404)
    assert "decision_not_entitled" in acted(site.signed_in(staff.engineer), row, "dismiss", 403, text="No.")
    assert site.signed_in(vendor.user).get(site.address("judging:appeal", row.id)).status_code == 404
    assert site.signed_in(staff.author).get(site.address("judging:opinion", row.id)).status_code == 404


def test_over_the_api_it_is_filed_read_and_withdrawn(vendor: world.Vendor, version: TaskSetVersion) -> None:
    submission = released(vendor, version)
    body = {"subject": "fault", "submission": str(submission.id), "grounds": "The store was down."}
    first, again = (vendor.api.post("appeals", body, key="k") for _ in range(2))
    assert (first.status, first.body["state"], first.body["turn"]) == (201, "filed", "deciders")
    assert first.body["id"] == again.body["id"]
    place = f"appeals/{first.body['id']}"
    assert vendor.api.get(place).body == first.body
    assert [row["id"] for row in vendor.api.get("appeals").body["appeals"]] == [first.body["id"]]
    stranger = world.vendor()
    assert stranger.api.get(place).status == 404
    assert stranger.api.post(f"{place}/withdraw", {}).status == 404
    assert stranger.api.post("appeals", body).code == "unknown_reference"
    assert vendor.api.post("appeals", {"subject": "rule", "grounds": "x"}).code == "unknown_reference"
    assert vendor.api.post("appeals", body).code == "appeal_exists"
    assert vendor.api.post(f"{place}/withdraw", {}).body["state"] == "withdrawn"


def test_the_result_says_until_when_it_can_be_appealed_against(
    vendor: world.Vendor, version: TaskSetVersion
) -> None:
    submission = released(vendor, version)
    browser = site.signed_in(vendor.user)
    link = f"?subject=score&amp;submission={submission.id}"
    assert link in text_of(browser, "leaderboard:result", submission.id)
    with arranged.later(31):
        assert link not in text_of(site.signed_in(vendor.user), "leaderboard:result", submission.id)


def test_a_wrong_filing_is_shown_again_with_its_reason(vendor: world.Vendor, version: TaskSetVersion) -> None:
    browser = site.signed_in(vendor.user)
    place = site.address("appeals:new_appeal", language="zh-hans")
    facts = {"key": "k", "subject": "hold", "task_set": version.label, "grounds": "x"}
    answer = browser.post(place, facts)
    assert (answer.status_code, "appeal_nothing" in answer.content.decode()) == (422, True)
    assert browser.post(place, {"key": "k"}).status_code == 422
    assert not Appeal.objects.exists()
