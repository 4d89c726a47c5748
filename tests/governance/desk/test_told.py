"""What is said of a hold, to whom: the vendor learns rule, deadline and way to appeal; others nothing."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import translation

from accounts.notices.models import Notice
from config import clock
from governance.desk import services
from governance.desk.models import Hold
from governance.desk.rules import GROUNDS, RULES, VERSION
from governance.desk.statements import TABLE, Audience, Fact, statement
from submissions.models import WebhookDelivery
from submissions.webhooks.services import create as create_webhook
from tests.accounts.duties import acting
from tests.factories import BY
from tests.governance.desk.arranged import DUE, MONDAY, REASON, Bench, again, alarm, hold_of
from tests.governance.test_delivery import released
from tests.pages import site
from tests.submissions import world

pytestmark = pytest.mark.django_db(transaction=True)
STATES = ("ordered", *Hold.State.values)


def test_the_table_says_something_or_nothing_of_each_state_to_each_audience() -> None:
    assert set(TABLE) == {(state, audience) for state in STATES for audience in Audience}
    for state in STATES:
        assert not statement(state, Audience.PUBLIC).facts
        assert not statement(state, Audience.LINKED_VENDOR).facts
        assert statement(state, Audience.AUDITOR).facts == {Fact.EVENTS}
    assert not statement("ordered", Audience.VENDOR).now
    for state in ("active", "extended", "voided"):
        assert Fact.APPEAL in statement(state, Audience.VENDOR).facts


def said(words: object) -> str:
    """In the language of the pages that are looked at."""
    with translation.override("en"):
        return str(words)


def page(desk: Bench, hold: Hold, language: str = "en") -> str:
    path = site.address("submissions:submission", hold.submission_id, language=language)
    answer = site.signed_in(desk.vendor.user).get(path)
    assert answer.status_code == 200
    return answer.content.decode()


@pytest.mark.case("U20")
@pytest.mark.case("E56")
def test_the_vendor_sees_rule_deadline_and_route_and_no_task(desk: Bench) -> None:
    hold = desk.held()
    body = desk.vendor.api.get(f"submissions/{hold.submission_id}/hold").body
    assert (body["state"], body["rule"]["code"], body["may_appeal"]) == ("active", "contrast", True)
    assert body["until"] == DUE.isoformat().replace("+00:00", "Z")
    text = page(desk, hold)
    for words in (said(RULES["contrast"].name), "At most until", "What happens then", "Appeal"):
        assert words in text
    assert "逐题" in page(desk, hold, "zh-hans")
    slugs = [task.slug for task in desk.version.tasks.filter(group="held_out")]
    assert slugs
    for told in (text, json.dumps(body)):
        assert not [slug for slug in slugs if slug in told]


@pytest.mark.case("U20")
def test_no_state_is_called_finished_while_there_is_no_result(desk: Bench) -> None:
    hold = desk.held()
    for path in (f"submissions/{hold.submission_id}", "submissions"):
        assert "held" in json.dumps(desk.vendor.api.get(path).body)
    answer = desk.vendor.api.get(f"submissions/{hold.submission_id}/result")
    assert (answer.status, answer.code) == (409, "result_not_released")
    assert "See the result" not in page(desk, hold)


@pytest.mark.case("E56")
def test_the_policy_is_public_and_names_every_rule_under_its_version(client: Client, desk: Bench) -> None:
    text = client.get(site.address("leaderboard:rules")).content.decode()
    assert VERSION in text
    for rule in RULES.values():
        assert f"<code>{rule.code}</code>" in text
        assert said(rule.sentence) in text
    assert site.address("accounts:participation_rules") in text
    agreed = client.get(site.address("accounts:participation_rules")).content.decode()
    assert "No probing" in agreed


@pytest.mark.case("E56")
def test_notice_and_webhook_say_no_more_than_the_table(desk: Bench) -> None:
    create_webhook(
        desk.vendor.organisation,
        url="https://hooks.example/",
        kinds=["submission.state"],
        by=desk.vendor.actor,
    )
    hold = desk.held()
    desk.decided(hold, "extend", at=MONDAY + timedelta(hours=1))
    desk.decided(hold, "void", "probing", at=MONDAY + timedelta(hours=2))
    kinds = set(Notice.objects.filter(person=desk.vendor.user).values_list("kind", flat=True))
    assert {"submission.held", "submission.hold_extended", "submission.voided"} <= kinds
    allowed = {"submission", "harness", "version", "state", "code", "reason", "rule", "until", "deadline"}
    for notice in Notice.objects.filter(
        kind__in=("submission.held", "submission.hold_extended", "submission.voided")
    ):
        assert set(notice.facts) <= allowed
        assert set(notice.facts.get("reason", {})) <= {"rule", "until", "ground"}
    sent = " ".join(row.body for row in WebhookDelivery.objects.all())
    states = [json.loads(row.body)["data"]["state"] for row in WebhookDelivery.objects.all()]
    assert states.count("held") == 2, "an extension is told as the same state once more"
    assert "voided" in states
    for secret in (REASON, str(desk.one.pseudonym), desk.one.email, str(hold.id)):
        assert secret not in sent + json.dumps(
            list(Notice.objects.values_list("facts", flat=True)), default=str
        )


def test_a_void_names_its_ground_and_a_false_alarm_the_returned_use(desk: Bench) -> None:
    hold = desk.held()
    desk.decided(hold, "void", "card")
    assert said(GROUNDS["card"].sentence) in page(desk, hold)
    body = desk.vendor.api.get(f"submissions/{hold.submission_id}/hold").body
    assert (body["state"], body["until"]) == ("voided", None)


def test_strangers_are_told_nothing_and_what_was_never_held_has_no_page(desk: Bench) -> None:
    hold, other = desk.held(), world.vendor()
    assert other.api.get(f"submissions/{hold.submission_id}/hold").status == 404
    free = desk.graded(2)
    assert desk.vendor.api.get(f"submissions/{free.id}/hold").status == 404
    assert released(free)


@pytest.mark.parametrize(("kind", "state"), [("hold", "held"), ("review", "grading")])
def test_only_an_alarm_that_asks_for_a_hold_places_one(desk: Bench, kind: str, state: str) -> None:
    found = desk.graded()
    alarm(found, kind, "toggle")
    with clock.frozen(MONDAY):
        hold = services.hold_if_due(found, by=BY)
    assert again(found).state == state
    if kind == "hold":
        assert hold is not None
        assert (hold.rule, hold.placed_by) == ("toggle", None)
        with clock.frozen(MONDAY):
            services.lift_hold(found, reason=REASON, by=acting(desk.one))
            # Once it is over, the same alarm does not hold it again.
            assert services.hold_if_due(found, by=BY) is None
        assert hold_of(found).state == "lifted"
