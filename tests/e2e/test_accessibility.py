"""Axe finds nothing, nothing overflows from 320 px on, and no page breaks the content policy: light and dark."""

from __future__ import annotations

from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe

from benchmark.models import TaskSetVersion
from submissions.models import Submission
from tests.e2e.conftest import sign_in
from tests.pages import site
from tests.submissions import world

pytestmark = pytest.mark.django_db(transaction=True)
RULES = {
    "preload": False,
    "resultTypes": ["violations"],  # what passed is not described, which takes longer than the looking
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
}
COLOURS = {**RULES, "runOnly": {"type": "rule", "values": ["color-contrast"]}}
"""All that the other scheme can change."""
WIDTHS = (320, 390, 768, 1440)
PUBLIC = (
    "",
    "rules/",
    "public-tasks/",
    "contract/",
    "problems/",
    "problems/cooldown/",
    "time-zone/",
    "account/login/",
    "account/signup/",
)


@pytest.fixture
def complete(vendor: world.Vendor, version: TaskSetVersion) -> Submission:
    found = site.moved(site.submission(vendor, version), *site.TO_COMPLETE)
    site.preflight_result(found)
    site.release(found)
    return found


def violations(page: Any, rules: dict[str, Any] = RULES) -> list[str]:
    """What axe complains about, one line each."""
    # Without `preload`: axe would copy style sheets into the page, and the content policy refuses that.
    found = Axe().run(page, options=rules)
    return [
        f"{page.url}: {row['id']}: {row['nodes'][0]['html'][:160]}" for row in found.response["violations"]
    ]


def look_at(page: Any, addresses: list[str]) -> list[str]:
    """Every complaint about these pages, in light and dark and at each width."""
    found: list[str] = []
    for address in addresses:
        page.set_viewport_size({"width": 1280, "height": 900})
        for scheme, rules in (("light", RULES), ("dark", COLOURS)):
            page.emulate_media(color_scheme=scheme)
            answer = page.goto(address)
            assert answer.status == 200, address
            found += [f"{scheme} {line}" for line in violations(page, rules)]
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            wide = page.evaluate("document.documentElement.scrollWidth")
            found += [f"{address}: {wide} px wide at {width} px"] if wide > width else []
    return found


def test_public_pages(page: Any, live_server: Any, version: TaskSetVersion, complaints: list[str]) -> None:
    addresses = [f"{live_server.url}/en/{path}" for path in PUBLIC]
    addresses += [f"{live_server.url}/zh-hans/", f"{live_server.url}/zh-hans/rules/"]
    assert look_at(page, addresses) == []
    assert complaints == []


def test_vendor_pages(
    page: Any, live_server: Any, vendor: world.Vendor, complete: Submission, complaints: list[str]
) -> None:
    sign_in(page, live_server.url, vendor)
    version = complete.harness_version
    paths = [
        "v/",
        "v/harnesses/",
        f"v/harnesses/{version.harness_id}/",
        f"v/harnesses/{version.harness_id}/versions/new/",
        f"v/versions/{version.id}/",
        "v/submissions/",
        "v/submissions/new/",
        f"v/submissions/{complete.id}/",
        f"v/submissions/{complete.id}/preflight/",
        f"v/submissions/{complete.id}/result/",
        "v/tokens/",
        "v/tokens/new/",
        "account/organisation/",
        "account/2fa/",
    ]
    addresses = [f"{live_server.url}/en/{path}" for path in paths]
    addresses.append(f"{live_server.url}/zh-hans/v/submissions/{complete.id}/result/")
    assert look_at(page, addresses) == []
    assert complaints == []


def test_a_result_prints_on_paper(
    page: Any, live_server: Any, vendor: world.Vendor, complete: Submission
) -> None:
    sign_in(page, live_server.url, vendor)
    page.goto(f"{live_server.url}/en/v/submissions/{complete.id}/result/")
    page.emulate_media(media="print")
    assert not page.is_visible(".sidebar")
    assert not page.is_visible(".masthead .tools")
    assert page.is_visible("svg.interval >> nth=0")
    assert page.is_visible("table")
