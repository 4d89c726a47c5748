"""The way of a vendor through the site, by hand: sign in, register, upload, confirm, see the submission."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchmark.models import TaskSetVersion
from submissions.models import Submission
from tests.e2e.conftest import sign_in
from tests.submissions import world
from tests.submissions.bundles import bundle

pytestmark = pytest.mark.django_db(transaction=True)
WORDS = {
    "en": {
        "confirm": "This uses 1 of your 3 remaining submissions.",
        "timeline": "Timeline",
        "received": "Received",
    },
    "zh-hans": {
        "confirm": "本次将使用您剩余 3 次提交中的 1 次。",
        "timeline": "时间线",
        "received": "已收到",
    },
}


@pytest.mark.parametrize("language", ["en", pytest.param("zh-hans", marks=pytest.mark.slow)])
def test_from_signing_in_to_the_submissions_page(
    page: Any,
    live_server: Any,
    vendor: world.Vendor,
    version: TaskSetVersion,
    tmp_path: Path,
    complaints: list[str],
    language: str,
) -> None:
    words, base = WORDS[language], f"{live_server.url}/{language}"
    sign_in(page, live_server.url, vendor, language)
    page.goto(f"{base}/v/harnesses/new/")
    page.fill("#id_name", "by-hand")
    page.check("input[name=relation][value=owner]")
    page.click("main form button[type=submit]")
    page.click(".page-head a.btn-primary")
    page.fill("#id_version", "1.0")
    for summary in page.query_selector_all("textarea[name$='.summary']"):
        summary.fill("Fixed rules, no model.")
    page.check("input[name='tuning.public_group_used'][value=no]")
    page.click("main form button[type=submit]")
    page.click(".page-head a.btn-primary")
    file = tmp_path / "bundle.tar.gz"
    file.write_bytes(bundle("by-hand", "1.0"))
    page.set_input_files("#id_package", str(file))
    assert Submission.objects.count() == 0
    page.click("main form button[type=submit]")
    page.wait_for_url("**/confirm/**")
    assert words["confirm"] in page.inner_text("main")
    assert Submission.objects.count() == 0
    page.click("main form button[type=submit]")
    page.wait_for_url("**/v/submissions/*-*/")
    submission = Submission.objects.get()
    assert str(submission.id) in page.url
    text = page.inner_text("main")
    assert words["timeline"] in text
    assert words["received"] in text
    assert complaints == []


def test_the_language_switch_keeps_the_page(page: Any, live_server: Any, version: TaskSetVersion) -> None:
    page.goto(f"{live_server.url}/en/public-tasks/?domain=finance")
    page.click("text=简体中文")
    page.wait_for_url("**/zh-hans/public-tasks/?domain=finance")
    assert page.input_value("#domain") == "finance"


def test_the_page_works_by_keyboard(page: Any, live_server: Any, version: TaskSetVersion) -> None:
    page.goto(f"{live_server.url}/en/rules/")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className").find("skip") >= 0
    assert page.evaluate("getComputedStyle(document.activeElement).position") == "absolute"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "content"
