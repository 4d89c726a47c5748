"""The leak ledger in a real browser: axe, widths, content policy; a vendor's own account, and all of them for staff."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from accounts.duties.table import Duty
from tests.accounts.duties import opened
from tests.e2e.test_accessibility import look_at
from tests.e2e.test_duties import sign_in
from tests.e2e.test_rooms import with_password
from tests.governance.test_silences import answer
from tests.governance.test_silences import opened as open_set
from tests.submissions import world

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.acceptance("governance:2")]


def test_the_pages_are_accessible(page: Any, live_server: Any, complaints: list[str]) -> None:
    office, vendor = opened(), world.vendor()
    version = open_set()
    answer(vendor, version)
    second = answer(vendor, version, 2, changed={"finance": range(19), "general": range(20)})
    base = live_server.url
    seen = [
        (vendor.user, ["v/information/", f"v/submissions/{second.id}/result/"]),
        (office.holder(Duty.HELD_OUT_GOVERNOR), ["console/information/"]),
    ]
    for place, (person, paths) in enumerate(seen):
        sign_in(page, base, with_password(person))
        addresses = [f"{base}/{language}/{path}" for path in paths for language in ("en", "zh-hans")]
        assert look_at(page, addresses) == []
        if folder := os.environ.get("LINGEE_SHOTS"):
            for number, address in enumerate(addresses):
                for width in (390, 1440):
                    page.set_viewport_size({"width": width, "height": 900})
                    page.goto(address)
                    page.screenshot(path=Path(folder) / f"i{place}-{number}-{width}.png", full_page=True)
    assert complaints == []
