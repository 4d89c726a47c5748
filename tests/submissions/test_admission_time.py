"""Which instant decides: that of the admission on the server, whatever a page showed before or a client says."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from config import clock
from leaderboard import times
from submissions import services
from submissions.models import Submission
from submissions.problems import Refused
from tests.pages.site import signed_in
from tests.submissions import world
from tests.submissions.test_failures import plain
from tests.submissions.test_quota import consume
from tests.submissions.world import Vendor

pytestmark = pytest.mark.django_db
TICK = timedelta(microseconds=1)
WEEK = timedelta(days=7)


@pytest.fixture(autouse=True)
def _adapter(settings: Any) -> None:
    settings.ACCOUNT_ADAPTER = "accounts.adapters.AccountAdapter"


@pytest.mark.case("E15")
def test_the_cooldown_is_counted_from_the_admission_and_asked_at_the_next_one(vendor: Vendor) -> None:
    """Bundle and form are older, the client's clock is wrong: only the server's instant of the POST counts."""
    task_set, harness = world.task_set(profile="official"), vendor.harness()
    order, second = vendor.order(task_set, harness), vendor.order(task_set, harness)
    admitted = clock.now() + timedelta(hours=5)
    lying = {"date": "Mon, 01 Jan 2001 00:00:00 GMT"}
    with clock.frozen(admitted):
        answer = vendor.api.post("submissions", world.body_of(order), headers=lying)
    assert answer.status == 202
    found = Submission.objects.get()
    assert (found.admitted_at, found.cooldown_until) == (admitted, admitted + WEEK)
    with clock.frozen(admitted + timedelta(hours=3)):
        consume(found)
        services.cancel(found.id, by=vendor.actor)
    with clock.frozen(admitted + WEEK - TICK):
        second = vendor.order(task_set, harness)
        refused = vendor.api.post("submissions", world.body_of(second), headers=lying)
    assert (refused.code, refused.body["next_allowed_at"]) == ("cooldown", (admitted + WEEK).isoformat())
    with clock.frozen(admitted + WEEK):
        assert vendor.api.post("submissions", world.body_of(second), headers=lying).status == 202


@pytest.mark.case("E15")
def test_rules_that_changed_after_the_form_was_shown_hold(vendor: Vendor) -> None:
    task_set, harness = world.task_set(line=1), vendor.harness()
    early, late = vendor.order(task_set, harness), vendor.order(task_set, harness)
    change = clock.now() + timedelta(hours=1)
    services.set_policy(task_set, profile="demo", numbers={"line": 0}, valid_from=change, by=world.BY)
    with clock.frozen(change), pytest.raises(Refused) as caught:
        services.submit(late, by=vendor.actor, key=uuid.uuid4().hex)
    assert caught.value.refusal.code == "quota_line"
    with clock.frozen(change - TICK):
        receipt = services.submit(early, by=vendor.actor, key=uuid.uuid4().hex)
    with clock.frozen(change + timedelta(hours=1)):
        services.check(receipt.submission_id)
    assert Submission.objects.get().state == "preflight"


@pytest.mark.case("E15")
@pytest.mark.parametrize(
    ("language", "zone", "words"),
    [
        ("en", "UTC", "2026-12-01 08:00:00 UTC (in 6 days)"),
        ("zh-hans", "Asia/Shanghai", "2026-12-01 16:00:00 UTC+08:00"),
        ("en", "America/Los_Angeles", "2026-12-01 00:00:00 UTC−08:00 (in 6 days)"),
    ],
)
def test_home_and_confirm_show_server_time_zone_and_what_remains(
    language: str, zone: str, words: str, vendor: Vendor
) -> None:
    start = datetime(2026, 11, 24, 8, tzinfo=UTC)
    with clock.frozen(start):
        task_set, harness = world.task_set(profile="official"), vendor.harness()
        found = vendor.submit(task_set, harness)
        consume(found)
        services.cancel(found.id, by=vendor.actor)
    now = start + timedelta(hours=9, seconds=7)
    with clock.frozen(now):
        upload = vendor.order(task_set, harness).upload
        client = signed_in(vendor.user)
        client.cookies["timezone"] = zone
        confirm = f"v/uploads/{upload.id}/confirm/?task_set={task_set.label}"
        for path in ("v/", confirm):
            text = plain(client.get(f"/{language}/{path}").content.decode())
            assert words in text, path
            local = now.astimezone(times.ZoneInfo(zone))
            server = "Server time" if language == "en" else "服务器时间"
            assert f"{server} {local:%Y-%m-%d %H:%M:%S} {times.offset(times.ZoneInfo(zone), now)}" in text
            assert zone in text
