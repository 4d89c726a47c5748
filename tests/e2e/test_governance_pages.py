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


@pytest.mark.slow
def test_every_page_stands_before_axe_in_both_languages(
    page: Any, live_server: Any, complaints: list[str]
) -> None:
    assert every_page(page, live_server.url, ("en", "zh-hans")) == []
    assert complaints == []


def test_every_page_can_be_read_on_a_phone(page: Any, live_server: Any, complaints: list[str]) -> None:
    """In English, whose words break in fewer places; axe takes most of the time, and is not asked."""
    assert every_page(page, live_server.url, ("en",), with_axe=False) == []
    assert complaints == []


def every_page(page: Any, base: str, languages: tuple[str, ...], *, with_axe: bool = True) -> list[str]:
    """What is wrong with any of them."""
    found: list[str] = []
    known = set()
    number = 0
    for person, paths in filled().pages:
        page.context.clear_cookies()
        if person is not None:
            sign_in(page, base, person if person.pk in known else with_password(person))
            known.add(person.pk)
        for path in paths:
            number += 1
            for language in languages:
                address, name = f"{base}/{language}/{path}", f"{number:02}-{language}-{path}"
                # What axe looks at does not change with the language.
                found += looked_at(page, address, name, with_axe=with_axe and language == "en")
    return found


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


def looked_at(page: Any, address: str, name: str, *, with_axe: bool = True) -> list[str]:
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
    return found + violations(page) if with_axe else found
