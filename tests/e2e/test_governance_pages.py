"""Every page of governance with rows on it, in both languages: axe, no overflow on a phone, content policy."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest

from accounts.duties.table import Duty
from tests.accounts.duties import opened
from tests.e2e.governed import filled
from tests.e2e.test_accessibility import violations
from tests.e2e.test_duties import sign_in
from tests.e2e.test_rooms import with_password
from tests.submissions import world

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(900)]
WIDTHS = (1440, 390)
GOVERNORS = (
    *("console/signals/", "console/rotation/", "console/rotation/stock/"),
    *("console/gaps/", "console/problems/", "console/information/"),
)


def test_every_page_can_be_read_on_a_phone(page: Any, live_server: Any, complaints: list[str]) -> None:
    found: list[str] = []
    known = set()
    number = 0
    for person, paths in filled().pages:
        page.context.clear_cookies()
        if person is not None:
            sign_in(page, live_server.url, person if person.pk in known else with_password(person))
            known.add(person.pk)
        for path in paths:
            number += 1
            for language in ("en", "zh-hans"):
                found += looked_at(
                    page, f"{live_server.url}/{language}/{path}", f"{number:02}-{language}-{path}"
                )
    assert found == []
    assert complaints == []


def test_a_site_on_which_nothing_happened_says_so(page: Any, live_server: Any) -> None:
    office, vendor = opened(), world.vendor()
    found: list[str] = []
    for person, paths in (
        (office.holder(Duty.HELD_OUT_GOVERNOR), GOVERNORS),
        (office.holder(Duty.ARBITER), ("console/appeals/",)),
        (office.holder(Duty.TASK_AUTHOR), ("console/opinions/", "console/rechecks/")),
        (vendor.user, ("v/appeals/", "v/information/", "versions/", "change-log/", "retirement-list/")),
    ):
        sign_in(page, live_server.url, with_password(person))
        for path in paths:
            found += looked_at(page, f"{live_server.url}/en/{path}", f"empty-{path}")
            found += [] if page.query_selector("main .empty") else [f"{path} does not say that it is empty"]
    assert found == []


def looked_at(page: Any, address: str, name: str) -> list[str]:
    """What is wrong with this page, wide and narrow; it is photographed where somebody asked for pictures."""
    found = []
    answer = page.goto(address)
    if answer.status != 200:
        return [f"{address}: {answer.status}"]
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        wide = page.evaluate("document.documentElement.scrollWidth")
        found += [f"{address}: {wide} px wide at {width} px"] if wide > width else []
        if folder := os.environ.get("LINGEE_SHOTS"):
            stem = re.sub(r"[^0-9A-Za-z-]+", "_", re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}", "ID", name))
            page.screenshot(path=Path(folder) / f"{stem}-{width}.png", full_page=True)
    # What axe looks at does not change with the language, and it takes most of the time.
    return found + violations(page) if "/en/" in address else found
