"""The console's pages of the platform's own upstreams in a real browser: the way through, axe, widths."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from accounts.duties.table import Duty
from evaluation.upstreams.models import ModelUpstream, UpstreamCredential
from tests.access.upstreams.arranged import SECRET
from tests.accounts.duties import opened
from tests.e2e.test_accessibility import look_at
from tests.e2e.test_duties import sign_in
from tests.e2e.test_rooms import with_password

pytestmark = pytest.mark.django_db(transaction=True)


def test_registered_and_given_its_credential(page: Any, live_server: Any, complaints: list[str]) -> None:
    sign_in(page, live_server.url, with_password(opened().holder(Duty.EVALUATION_ENGINEER)))
    base = f"{live_server.url}/en/console/upstreams/"
    assert look_at(page, [base]) == []
    page.goto(f"{base}new/")
    page.fill("#id_name", "house-model")
    page.fill("#id_base_url", "https://models.example.com/v1")
    page.fill("#id_snapshot", "house-2026-11-01")
    page.check("input[name=exposure][value=sealed]")
    page.fill("#id_ceiling", "500")
    page.get_by_role("button", name="Register").click()
    page.fill("#id_credential", SECRET)
    page.get_by_role("button", name="Set the credential").click()
    page.wait_for_selector("text=…WXYZ")
    assert SECRET not in page.content()
    row = ModelUpstream.objects.get(organisation=None)
    assert UpstreamCredential.objects.filter(upstream=row).exists()
    places = [base, f"{base}new/", f"{base}{row.id}/", f"{base}{row.id}/retire/"]
    assert look_at(page, [*places, f"{live_server.url}/zh-hans/console/upstreams/"]) == []
    if folder := os.environ.get("LINGEE_SHOTS"):
        for number, place in enumerate(places):
            for width in (390, 1440):
                page.set_viewport_size({"width": width, "height": 900})
                page.goto(place)
                page.screenshot(path=Path(folder) / f"platform-{number}-{width}.png", full_page=True)
    assert complaints == []
