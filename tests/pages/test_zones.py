"""Instants are stored in UTC, entered and shown with an explicit zone, and come back exactly; windows may touch."""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.test import Client
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from accounts import services as accounts
from accounts.duties import queries
from accounts.duties.table import Duty
from config import clock
from leaderboard import times
from leaderboard.auditing.forms import Instant
from submissions import services
from submissions.queries import terms_at
from tests.accounts.duties import member_of_staff, opened
from tests.accounts.test_auditors import appointed
from tests.pages import site
from tests.pages.site import signed_in
from tests.submissions import world

ZONES = ("Asia/Shanghai", "America/Los_Angeles", "Europe/Berlin", "UTC")
"""UTC+8, UTC-8 with its summer time, another summer time, none."""
EDGES = (
    datetime(2026, 3, 8, 9, 59, 59, tzinfo=UTC),
    datetime(2026, 3, 8, 10, 0, 0, tzinfo=UTC),
    datetime(2026, 11, 1, 8, 30, 0, tzinfo=UTC),
    datetime(2026, 11, 1, 9, 30, 0, tzinfo=UTC),
    datetime(2026, 3, 29, 1, 0, 0, tzinfo=UTC),
    datetime(2026, 10, 25, 0, 30, 0, tzinfo=UTC),
    datetime(2026, 10, 25, 1, 30, 0, tzinfo=UTC),
)
"""Around the changes of summer time, and the hours that a clock shows twice."""
INSTANTS = st.sampled_from(EDGES) | st.integers(978307200, 4070908800).map(
    lambda seconds: datetime.fromtimestamp(seconds, UTC)
)
SHOWN = re.compile(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) UTC(?:([+\u2212])(\d\d):(\d\d))?")


def read(text: str) -> datetime:
    """The instant that a reader takes from what is shown."""
    found = SHOWN.fullmatch(text)
    assert found, text
    wall, sign, hours, minutes = found.groups()
    ahead = timedelta(hours=int(hours or 0), minutes=int(minutes or 0)) * (-1 if sign == "\u2212" else 1)
    return datetime.strptime(f"{wall} +0000", "%Y-%m-%d %H:%M:%S %z") - ahead


@pytest.mark.case("E42")
@given(INSTANTS, st.sampled_from(ZONES))
def test_what_is_shown_names_one_instant_in_every_zone(at: datetime, zone: str) -> None:
    assert read(times.local(at, ZoneInfo(zone))) == at
    assert read(times.utc(at)) == at


@pytest.mark.case("E42")
@given(INSTANTS, st.sampled_from(ZONES))
def test_what_is_entered_comes_back_as_it_was(at: datetime, zone: str) -> None:
    """Whatever zone the reader has: the field is in UTC, so that no hour is missing or there twice."""
    field = Instant()
    entered = f"{at:%Y-%m-%dT%H:%M:%S}"
    with timezone.override(zone):
        kept = field.clean(entered)
        assert kept == at
        assert f'value="{entered}"' in field.widget.render("since", kept)


def in_zone(client: Client, zone: str) -> Client:
    client.cookies["timezone"] = zone
    return client


@pytest.mark.case("E42")
@pytest.mark.django_db
@pytest.mark.parametrize("zone", ZONES)
def test_a_duty_begins_at_midnight_utc_wherever_it_is_entered(zone: str) -> None:
    """Entered as a day, kept as its first instant in UTC, shown in the viewer's zone with its offset."""
    office, person = opened(), member_of_staff()
    begins, ends = datetime(2027, 3, 14, tzinfo=UTC), datetime(2027, 11, 8, tzinfo=UTC)
    facts = {"person": str(person.pk), "duty": "arbiter", "reason": "appeals"}
    client = in_zone(signed_in(office.first), zone)
    again = client.post(
        "/en/console/duties/new/", {**facts, "begins_at": "2027-03-14", "ends_at": "nonsense"}
    )
    assert 'value="2027-03-14"' in again.content.decode()
    sent = client.post(
        "/en/console/duties/new/", {**facts, "begins_at": "2027-03-14", "ends_at": "2027-11-08"}
    )
    assert sent.status_code == 302
    (row,) = person.duties.all()
    assert (row.begins_at, row.ends_at) == (begins, ends)
    other = in_zone(signed_in(office.second), zone)
    page = other.get(f"/en/console/duties/{row.pk}/confirm/").content.decode()
    shown = re.findall(r'<time datetime="([^"]+)" title="([^"]+)">([^<]+)</time>', page)
    pairs = [(datetime.fromisoformat(iso), read(utc), read(words)) for iso, utc, words in shown]
    assert all(len(set(triple)) == 1 for triple in pairs)
    assert {begins, ends} <= {triple[0] for triple in pairs}


@pytest.mark.case("E42")
@pytest.mark.django_db
def test_terms_may_touch_and_never_both_hold_nor_leave_a_gap() -> None:
    office, one, two = opened(), member_of_staff(), member_of_staff()
    start = clock.now() + timedelta(days=1)
    middle, end = start + timedelta(days=10), start + timedelta(days=20)
    office.give(one, Duty.ARBITER, begins_at=start, ends_at=middle)
    office.give(two, Duty.ARBITER, begins_at=middle, ends_at=end)
    tick = timedelta(microseconds=1)
    for at, holds in (
        (start - tick, 0),
        (start, 1),
        (middle - tick, 1),
        (middle, 1),
        (end - tick, 1),
        (end, 0),
    ):
        with clock.frozen(at):
            held = [Duty.ARBITER in queries.duties_of(person) for person in (one, two)]
        assert sum(held) == holds, at
    with clock.frozen(middle):
        assert Duty.ARBITER in queries.duties_of(two)


@pytest.mark.case("E42")
@pytest.mark.django_db
@pytest.mark.parametrize("zone", ZONES)
def test_a_week_of_cooldown_is_168_hours_across_summer_time(zone: str) -> None:
    """Admitted two days before Los Angeles changes its clocks: the page shows the same instant in each zone."""
    start = datetime(2027, 3, 12, 8, 0, 0, tzinfo=UTC)
    with clock.frozen(start):
        vendor = world.vendor()
        task_set = site.task_set(profile="official")
        found = site.moved(site.submission(vendor, task_set), *site.TO_COMPLETE)
    assert found.cooldown_until == start + timedelta(hours=168)
    with clock.frozen(start + timedelta(hours=1)):
        page = in_zone(signed_in(vendor.user), zone).get("/en/v/").content.decode()
    (until,) = set(re.findall(r"from <time [^>]*>([^<]+)</time>", page))
    assert read(until) == found.cooldown_until
    hour = "01" if zone == "America/Los_Angeles" else f"{found.cooldown_until.astimezone(ZoneInfo(zone)):%H}"
    assert until[11:13] == hour


@pytest.mark.case("E42")
@pytest.mark.django_db
def test_policies_touch_at_their_instant() -> None:
    task_set, change = world.task_set(line=3), clock.now() + timedelta(days=2)
    services.set_policy(task_set, profile="demo", numbers={"line": 1}, valid_from=change, by=world.BY)
    before = terms_at(task_set, change - timedelta(microseconds=1))
    after = terms_at(task_set, change)
    assert before is not None
    assert after is not None
    assert (before.line, after.line) == (3, 1)


@pytest.mark.case("E42")
@pytest.mark.django_db(transaction=True, databases=["default", "auditor"])
@pytest.mark.parametrize("zone", ["Asia/Shanghai", "America/Los_Angeles"])
def test_filters_of_auditors_that_touch_show_each_event_once(zone: str) -> None:
    """The database dates events itself, so they are made just before and just after a whole second."""
    term = appointed(accounts.create_user("auditor@lingee.invalid", None, by=site.BY))
    client = in_zone(signed_in(term.person), zone)
    middle = clock.now().replace(microsecond=0) + timedelta(seconds=2)
    accounts.create_user("before@lingee.invalid", None, by=site.BY)
    assert clock.now() < middle
    while clock.now() <= middle:
        time.sleep(0.05)
    accounts.create_user("after@lingee.invalid", None, by=site.BY)
    hour = timedelta(hours=1)

    def listed(since: datetime, until: datetime) -> set[str]:
        entered = {"since": f"{since:%Y-%m-%dT%H:%M:%S}", "until": f"{until:%Y-%m-%dT%H:%M:%S}"}
        text = client.get("/en/audit/", entered).content.decode()
        assert all(f'value="{value}"' in text for value in entered.values())
        return set(re.findall(r"/en/audit/events/([^/\"]+)/", text))

    whole = listed(middle - hour, middle + hour)  # first: every look is an event itself
    before, after = listed(middle - hour, middle), listed(middle, middle + hour)
    assert before
    assert after
    assert not before & after
    assert before < whole <= before | after
