"""Trusted publishers in a real browser: axe, widths, content policy; one is registered and removed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from accounts.publishing.models import TrustedPublisher
from tests.access.oidc.arranged import registered
from tests.e2e.conftest import sign_in
from tests.e2e.test_accessibility import look_at
from tests.submissions import world

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.case("G38")
def test_a_publisher_is_registered_and_removed_on_accessible_pages(
    page: Any, live_server: Any, vendor: world.Vendor, complaints: list[str]
) -> None:
    harness = vendor.harness()
    row = registered(
        vendor, harness, repository="acme/a-repository-with-quite-a-long-name", environment="release"
    )
    sign_in(page, live_server.url, vendor)
    paths = ["", "new/", f"{row.id}/remove/"]
    addresses = [
        f"{live_server.url}/{language}/v/publishers/{path}"
        for path in paths
        for language in ("en", "zh-hans")
    ]
    assert look_at(page, addresses) == []
    if folder := os.environ.get("LINGEE_SHOTS"):
        for number, address in enumerate(addresses):
            for width in (390, 1440):
                page.set_viewport_size({"width": width, "height": 1000})
                page.goto(address)
                page.screenshot(path=Path(folder) / f"publishers-{number}-{width}.png", full_page=True)
    page.goto(f"{live_server.url}/en/v/publishers/new/")
    for field, value in {"repository": "acme/tools", "owner_id": "65001", "workflow": "submit.yml"}.items():
        page.fill(f"#id_{field}", value)
    page.click("main button[type=submit]")
    page.wait_for_url("**/v/publishers/")
    assert TrustedPublisher.objects.get(repository="acme/tools").workflow == ".github/workflows/submit.yml"
    page.click("main >> text=Remove acme/tools")
    page.click("main button[type=submit]")
    page.wait_for_url("**/v/publishers/")
    assert TrustedPublisher.objects.get(repository="acme/tools").ended_at is not None
    assert complaints == []
