"""The access review in a real browser: axe, widths, content policy; a duty is given by two administrators."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from allauth.account.models import EmailAddress

from accounts.duties import services
from accounts.duties.table import Duty
from accounts.models import User
from config import clock
from tests.accounts.duties import Office, acting, member_of_staff, opened
from tests.e2e.conftest import PASSWORD, sign_in_as
from tests.e2e.test_accessibility import look_at
from tests.factories import saved
from tests.submissions import world

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def office(transactional_db: None) -> Office:
    office = opened()
    office.holder(Duty.TASK_AUTHOR)
    row = office.holder(Duty.EVALUATION_ENGINEER).duties.get()
    services.end(row, reason="x", by=acting(office.first))
    for person in (office.first, office.second):
        person.set_password(PASSWORD)
        saved(person)
        world.enrolled(person)
        EmailAddress.objects.create(user=person, email=person.email, verified=True, primary=True)
    return office


def sign_in(page: Any, base: str, person: User) -> None:
    page.context.clear_cookies()
    sign_in_as(page, base, person)


@pytest.mark.slow
def test_the_pages_are_accessible(page: Any, live_server: Any, office: Office, complaints: list[str]) -> None:
    row = office.propose(member_of_staff(), Duty.ARBITER)
    sign_in(page, live_server.url, office.second)
    paths = ["", "new/", f"{row.id}/confirm/", f"{row.id}/end/"]
    addresses = [
        f"{live_server.url}/{language}/console/duties/{path}"
        for path in paths
        for language in ("en", "zh-hans")
    ]
    assert look_at(page, addresses) == []
    assert complaints == []
    if folder := os.environ.get("LINGEE_SHOTS"):
        for number, address in enumerate(addresses):
            for width in (390, 1440):
                page.set_viewport_size({"width": width, "height": 900})
                page.goto(address)
                page.screenshot(path=Path(folder) / f"{number}-{width}.png", full_page=True)


def test_one_proposes_and_another_confirms(page: Any, live_server: Any, office: Office) -> None:
    person = member_of_staff("governor")
    sign_in(page, live_server.url, office.first)
    page.goto(f"{live_server.url}/en/console/duties/")
    page.click("text=Propose a duty")
    page.select_option("#id_person", str(person.pk))
    page.select_option("#id_duty", "held_out_governor")
    today = clock.now()
    page.fill("#id_begins_at", f"{today:%Y-%m-%d}")
    page.fill("#id_ends_at", f"{today + timedelta(days=30):%Y-%m-%d}")
    page.fill("#id_reason", "the set needs one")
    page.click("main form button[type=submit]")
    page.wait_for_selector("text=Another administrator confirms it")
    sign_in(page, live_server.url, office.second)
    page.goto(f"{live_server.url}/en/console/duties/")
    page.get_by_role("link", name="Confirm").click()
    page.fill("#id_reason", "seen the paper")
    page.click("main form button[type=submit]")
    page.wait_for_selector("text=The duty is confirmed")
    assert person.duties.get().confirmed_by == office.second
