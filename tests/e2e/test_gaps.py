"""The gap page in a real browser: axe, widths, content policy."""

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
from tests.governance.analysing import Answers, evaluated, ticked, version_of_three
from tests.submissions import world

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.slow
def test_the_page_is_accessible(page: Any, live_server: Any, complaints: list[str]) -> None:
    version, vendor = version_of_three(), world.vendor()
    harness = vendor.harness()
    for build, public in (("one", 1), ("two", 2)):
        ticked(evaluated(vendor, version, harness, Answers(build, public=public)))
    sign_in(page, live_server.url, with_password(opened().holder(Duty.HELD_OUT_GOVERNOR)))
    addresses = [f"{live_server.url}/{language}/console/gaps/" for language in ("en", "zh-hans")]
    assert look_at(page, addresses) == []
    if folder := os.environ.get("LINGEE_SHOTS"):
        for number, address in enumerate(addresses):
            for width in (390, 1440):
                page.set_viewport_size({"width": width, "height": 900})
                page.goto(address)
                page.screenshot(path=Path(folder) / f"gaps-{number}-{width}.png", full_page=True)
    assert complaints == []
