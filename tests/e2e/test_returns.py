"""Returns of uses in a real browser: axe, widths, content policy; for staff and for the vendor."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from accounts.duties.table import Duty
from submissions.returns import services
from tests.accounts.duties import acting, opened
from tests.e2e.test_accessibility import look_at
from tests.e2e.test_duties import sign_in
from tests.e2e.test_rooms import with_password
from tests.pages import site
from tests.submissions import world

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.case("E3")]


@pytest.mark.slow
def test_the_pages_are_accessible(page: Any, live_server: Any, complaints: list[str]) -> None:
    office, vendor = opened(), world.vendor()
    version = site.task_set(in_flight=9, preflight=9)
    engineer, governor = (office.holder(duty) for duty in (Duty.EVALUATION_ENGINEER, Duty.HELD_OUT_GOVERNOR))
    made = [
        site.moved(vendor.submit(version, harness), *site.TO_COMPLETE)
        for harness in [vendor.harness()]
        for _ in range(3)
    ]
    reason = "The store was down for two hours while these tasks ran."
    rows = [services.propose(row.pk, reason=reason, by=acting(engineer)) for row in made]
    services.approve(rows[0].id, by=acting(governor))
    services.withdraw(rows[1].id, by=acting(governor))
    base = live_server.url
    seen = [
        (governor, ["console/returns/", "console/returns/new/", f"console/returns/{rows[2].id}/approve/"]),
        (vendor.user, ["v/", f"v/submissions/{made[0].id}/"]),
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
                    page.screenshot(path=Path(folder) / f"u{place}-{number}-{width}.png", full_page=True)
    assert complaints == []
