"""What every refusal by quota names, and where it leads: numbers, the next instant, how to ask for more."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.test import Client

from benchmark.models import TaskSetVersion
from config import clock
from submissions import queries, services
from submissions.models import Harness, Submission
from submissions.problems.refusal import QUOTA
from tests.factories import frozen_version
from tests.pages.site import signed_in
from tests.submissions import world
from tests.submissions.outcomes import bring_to, crash_canary
from tests.submissions.test_failures import plain
from tests.submissions.test_quota import reject
from tests.submissions.world import Answer, Vendor

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _adapter(settings: Any) -> None:
    settings.ACCOUNT_ADAPTER = "accounts.adapters.AccountAdapter"


def nobody(vendor: Vendor, harness: Harness) -> TaskSetVersion:
    return frozen_version("no-policy")


def stopped(vendor: Vendor, harness: Harness) -> TaskSetVersion:
    task_set = world.task_set()
    services.stop_admission(task_set, cause="leak_budget_spent", lineage=None, until=None, by=world.BY)
    return task_set


def limited(**numbers: int) -> Callable[[Vendor, Harness], TaskSetVersion]:
    def act(vendor: Vendor, harness: Harness) -> TaskSetVersion:
        task_set = world.task_set("limited", profile="demo", **({"in_flight": 9} | numbers))
        vendor.submit(task_set, harness)
        return task_set

    return act


def used_up(vendor: Vendor, harness: Harness) -> TaskSetVersion:
    task_set = world.task_set(preflight=1)
    reject(vendor.submit(task_set, harness))
    return task_set


ROADS: dict[str, tuple[int, Callable[[Vendor, Harness], TaskSetVersion]]] = {
    "not_entitled": (403, nobody),
    "admission_stopped": (403, stopped),
    "quota_line": (429, limited(line=1)),
    "quota_lineage": (429, limited(lineage=1)),
    "quota_account": (429, limited(account=1)),
    "in_flight": (429, limited(in_flight=1)),
    "cooldown": (429, limited(cooldown_seconds=3600)),
    "preflight_ceiling": (429, used_up),
}


def test_every_refusal_by_quota_has_a_road() -> None:
    assert set(ROADS) == {code.value for code in QUOTA}


def refused(vendor: Vendor, order: queries.Order, language: str) -> Answer:
    headers = {"accept-language": language}
    return vendor.api.post("submissions", world.body_of(order), headers=headers)


@pytest.mark.case("U13")
@pytest.mark.parametrize("code", ROADS)
def test_it_names_policy_limit_use_and_date_and_leads_to_a_request(
    code: str, vendor: Vendor, harness: Harness
) -> None:
    status, make = ROADS[code]
    task_set = make(vendor, harness)
    order = vendor.order(task_set, harness)
    for language, heading in (("en", "Requesting a grant"), ("zh-hans", "申请额外次数")):
        answer = refused(vendor, order, language)
        body = answer.body
        assert (answer.status, answer.code) == (status, code)
        assert body["policy"] == ("none" if code == "not_entitled" else "demo")
        assert isinstance(body["limit"], int)
        assert isinstance(body["used"], int)
        assert body["counter"]
        assert (body["next_allowed_at"] is None) != (body["next_allowed_reason"] is None)
        page, _, place = body["request_grant"].partition("#")
        text = Client().get(page).content.decode()
        assert f'<h2 id="{place}">{heading}</h2>' in text


@pytest.mark.case("U13")
@pytest.mark.parametrize("code", [code for code in ROADS if code != "not_entitled"])
def test_the_confirm_page_leads_there_too(code: str, vendor: Vendor, harness: Harness) -> None:
    task_set = ROADS[code][1](vendor, harness)
    order = vendor.order(task_set, harness)
    answer = refused(vendor, order, "en")
    page = f"/en/v/uploads/{order.upload.id}/confirm/?task_set={task_set.label}"
    text = signed_in(vendor.user).get(page).content.decode()
    assert f'<a href="{answer.body["request_grant"]}">Request a grant</a>' in text
    assert plain(answer.body["detail"]) in plain(text)
    assert "Server time" in text


def test_other_refusals_lead_to_no_grant(vendor: Vendor, harness: Harness, task_set: TaskSetVersion) -> None:
    order = vendor.order(task_set, harness)
    answer = vendor.api.post("submissions", world.body_of(order, upload="nonsense"))
    assert answer.status == 422
    assert "request_grant" not in answer.body


LABELS = {
    "line": "On this harness, all versions",
    "lineage": "In the organisation",
    "account": "By you",
    "in_flight": "In flight on this harness",
}


@pytest.mark.case("E9")
@pytest.mark.case("G9")
def test_page_and_api_show_the_same_numbers(vendor: Vendor) -> None:
    """After uses that are reserved and returned, on two versions: each meter of each card."""
    made = world.task_set("a", in_flight=3), world.task_set("b", profile="official")
    one, two = vendor.harness("one"), vendor.harness("two")
    for task_set in made:
        vendor.submit(task_set, one)
        reject(vendor.submit(task_set, two))
    services.cancel(Submission.objects.filter(task_set=made[1]).order_by("id")[0].id, by=vendor.actor)
    now = clock.now()
    with clock.frozen(now):
        body = vendor.api.get("quota").body
        text = signed_in(vendor.user).get("/en/v/").content.decode()
    cards = re.findall(r'<section class="card">.*?</section>', text, re.DOTALL)
    shown = [
        (row["task_set"], line) for row in body["task_sets"] for line in row["harnesses"] if row["entitled"]
    ]
    assert len(shown) == 4
    for label, line in shown:
        (card,) = [card for card in cards if f"version {label}<" in card and f"/{line['harness']}/" in card]
        words = plain(card)
        for counter in line["counters"]:
            held, used, limit = counter["reserved"], counter["used"], counter["limit"]
            value = (
                f"{used - held} used and {held} reserved of {limit}" if held else f"{used} of {limit} used"
            )
            place = words.index(LABELS.get(counter["counter"], "reflight"))
            assert value in words[place : place + 120], (label, counter, words)
            if counter["refunded"]:
                assert f"{counter['refunded']} returned" in words
        if line["next_allowed_at"]:
            at = datetime.fromisoformat(line["next_allowed_at"])
            assert f"{at:%Y-%m-%d %H:%M:%S} UTC" in words
        assert f"Server time {now:%Y-%m-%d %H:%M:%S} UTC" in words
        assert datetime.fromisoformat(line["now"]) == now


@pytest.mark.case("U4")
def test_failures_leave_the_held_out_count_alone_and_attempts_are_counted_apart(
    vendor: Vendor, harness: Harness
) -> None:
    task_set = world.task_set(in_flight=9, preflight=9)

    def numbers() -> tuple[int, int, int, int]:
        window = queries.quota_window(harness, task_set, account=vendor.user.id)
        assert window is not None
        used = {counter.rule.value: counter.used for counter in window.counters}
        return used["line"], used["lineage"], used["account"], used["preflight"]

    version = vendor.version(harness)
    upload = services.open_upload(version, sha256="0" * 64, size=10, by=vendor.actor)
    order = queries.Order(vendor.organisation, version, task_set, upload)
    assert vendor.api.post("submissions", world.body_of(order)).code == "upload_not_complete"
    assert numbers() == (0, 0, 0, 0)
    reject(vendor.submit(task_set, harness))
    assert numbers() == (0, 0, 0, 1)
    tried = bring_to(vendor.submit(task_set, harness), "queued")
    assert tried.canary_run is not None
    crash_canary(tried.canary_run)
    assert services.advance(tried.id) == "preflight_failed"
    assert numbers() == (0, 0, 0, 2)
    late = vendor.submit(task_set, harness)
    assert numbers() == (1, 1, 1, 3)
    services.begin_check(late.id, by=world.BY)
    with clock.shifted(timedelta(minutes=16)):
        services.sweep()
    assert numbers() == (0, 0, 0, 2)
