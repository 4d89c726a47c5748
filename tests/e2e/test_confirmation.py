"""Confirmation runs and the calendar in a real browser: axe, widths, content policy, from consent to release."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from benchmark.models import Domain
from tests.e2e.test_accessibility import look_at
from tests.e2e.test_duties import sign_in
from tests.e2e.test_rooms import with_password
from tests.governance.confirming import advanced, run_through
from tests.governance.test_silences import answer
from tests.governance.test_silences import opened as open_set
from tests.submissions import world

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.acceptance("governance:3")]


def test_from_the_consent_to_the_dated_release(page: Any, live_server: Any, complaints: list[str]) -> None:
    vendor, version = world.vendor(), open_set()
    submission = answer(vendor, version)
    other = answer(vendor, version, 2, changed={domain.value: range(24) for domain in Domain})
    base = live_server.url
    sign_in(page, base, with_password(vendor.user))
    page.goto(f"{base}/en/v/submissions/{submission.id}/result/")
    page.get_by_role("link", name="Confirmation run").click()
    page.get_by_label("We agree that the values of this run").check()
    page.get_by_role("button", name="Ask for the confirmation run").click()
    page.get_by_role("button", name="Withdraw the confirmation run").wait_for()
    run_through(advanced(submission, 2))
    assert advanced(submission, 2, later=timedelta(minutes=20)).state == "confirmed"
    call_command("release_dated", "demo-1")
    page.goto(f"{base}/en/releases/demo-1/")
    assert page.get_by_role("cell", name="75", exact=True).count() == 1
    paths = [
        f"v/submissions/{other.id}/confirmation/",
        f"v/submissions/{submission.id}/confirmation/",
        f"v/submissions/{submission.id}/result/",
        "releases/",
        "releases/demo-1/",
    ]
    addresses = [f"{base}/{language}/{path}" for path in paths for language in ("en", "zh-hans")]
    assert look_at(page, addresses) == []
    if folder := os.environ.get("LINGEE_SHOTS"):
        for number, address in enumerate(addresses):
            for width in (390, 1440):
                page.set_viewport_size({"width": width, "height": 900})
                page.goto(address)
                page.screenshot(path=Path(folder) / f"c{number}-{width}.png", full_page=True)
    assert complaints == []
