"""Notices and webhooks in a real browser: axe, widths, content policy; from the bell to the list to read."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from benchmark.models import TaskSetVersion
from submissions.webhooks import delivery, services
from tests.e2e.conftest import sign_in
from tests.e2e.test_accessibility import look_at
from tests.notices.receiver import receiver
from tests.submissions import world
from tests.submissions.outcomes import bring_to

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.slow
def test_the_pages_are_accessible_and_the_bell_leads_to_what_is_unread(
    page: Any,
    live_server: Any,
    vendor: world.Vendor,
    version: TaskSetVersion,
    complaints: list[str],
    settings: Any,
) -> None:
    settings.OUTGOING_LOOPBACK = True
    bring_to(vendor.submit(version, vendor.harness()), "paused")
    with receiver() as there:
        row, _secret = services.create(
            vendor.organisation, url=there.url, kinds=["submission.state", "token.expiring"], by=vendor.actor
        )
        services.test(row)
        delivery.deliver_due()
        services.test(row)
    sign_in(page, live_server.url, vendor)
    paths = [
        "account/notices/",
        "account/notices/settings/",
        "v/webhooks/",
        "v/webhooks/new/",
        f"v/webhooks/{row.pk}/",
    ]
    addresses = [f"{live_server.url}/{language}/{path}" for language in ("en", "zh-hans") for path in paths]
    assert look_at(page, addresses) == []
    if folder := os.environ.get("LINGEE_SHOTS"):
        for number, address in enumerate(addresses):
            for width in (390, 1440):
                page.set_viewport_size({"width": width, "height": 900})
                page.goto(address)
                page.screenshot(path=Path(folder) / f"notices-{number}-{width}.png", full_page=True)
    page.goto(f"{live_server.url}/en/")
    page.click("a.bell")
    unread = page.locator(".notices .unread").count()
    assert unread >= 2
    page.click(".notices .unread button")
    page.wait_for_load_state()
    assert page.locator(".notices .unread").count() == unread - 1
    page.click("button[name=all]")
    page.wait_for_load_state()
    assert page.locator(".notices .unread").count() == 0
    assert "unread" not in page.inner_text("a.bell")
    assert complaints == []
