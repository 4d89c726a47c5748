"""A preflight on its own by hand: an organisation under review uploads, presses the button, reads how it stands."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchmark.models import TaskSetVersion
from submissions.models import Submission
from tests.e2e.conftest import sign_in
from tests.factories import saved
from tests.pages.site import address
from tests.submissions import world
from tests.submissions.bundles import bundle
from tests.submissions.test_preflights import ended

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.acceptance("access:1")]
WORDS = {
    "en": ("Preflight only", "preflight passed", "no held-out task is touched"),
    "zh-hans": ("仅预检", "预检通过", "不触及任何保留组题目"),
}


@pytest.mark.parametrize(
    "language", [pytest.param(name, marks=pytest.mark.slow if name != "en" else ()) for name in WORDS]
)
def test_from_the_upload_to_the_logs(
    page: Any,
    live_server: Any,
    vendor: world.Vendor,
    version: TaskSetVersion,
    tmp_path: Path,
    complaints: list[str],
    language: str,
) -> None:
    vendor.organisation.state = "under_review"
    saved(vendor.organisation)
    made = vendor.version(vendor.harness("by-hand"), "1.0")
    button, passed, nothing = WORDS[language]
    sign_in(page, live_server.url, vendor, language)
    page.goto(
        f"{live_server.url}{address('submissions:new_submission', language=language)}?version={made.id}"
    )
    file = tmp_path / "bundle.tar.gz"
    file.write_bytes(bundle("by-hand", "1.0"))
    page.set_input_files("#id_package", str(file))
    page.click("main form button[type=submit]")
    page.wait_for_url("**/confirm/**")
    look(page, tmp_path, f"confirm-{language}")
    page.click(f"main button:has-text('{button}')")
    page.wait_for_url("**/preflight/")
    assert nothing in page.inner_text("main")
    look(page, tmp_path, f"begun-{language}")
    ended(Submission.of_any_scope.get())
    page.reload()
    assert passed in page.inner_text("main")
    look(page, tmp_path, f"passed-{language}")
    page.click("main table tbody a >> nth=0")
    page.wait_for_url("**/preflight/*/0/")
    assert "log of" in page.inner_text("main")
    page.goto(f"{live_server.url}{address('submissions:submissions', language=language)}")
    look(page, tmp_path, f"list-{language}")
    assert complaints == []


def look(page: Any, folder: Path, name: str) -> None:
    """At both widths: nothing is wider than the window."""
    for width in (390, 1440):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (name, width)
        page.screenshot(path=str(folder / f"{name}-{width}.png"), full_page=True)
