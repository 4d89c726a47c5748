"""The rules are printed from what decides, in both languages, on the page and by command."""

from __future__ import annotations

import io

import pytest
from django.core.management import call_command
from django.test import Client

from benchmark.profiling import limits
from governance import rulebook
from governance.appeals import policies as appeals
from governance.desk import policies as holds
from governance.queries import current_policy
from governance.rotation import policies as rotation
from tests.pages import site

pytestmark = pytest.mark.django_db


def printed(language: str) -> str:
    target = io.StringIO()
    call_command("governance", "document", "--language", language, stdout=target)
    return target.getvalue()


def test_numbers_come_from_rows_and_constants(monkeypatch: pytest.MonkeyPatch) -> None:
    version = site.task_set(line=7)
    policy = current_policy(version)
    assert policy is not None
    text = printed("en")
    assert f"| {holds.WORKING_DAYS} working days |" in text
    assert f"| {appeals.RECHECKED} |" in text
    assert "| 7 |" in text
    assert f"| {policy.fewest_changed} |" in text
    monkeypatch.setattr(holds, "WORKING_DAYS", 13)
    monkeypatch.setattr(appeals, "RECHECKED", 41)
    text = printed("en")
    assert "| 13 working days |" in text
    assert "| 41 |" in text


def test_rotation_is_printed_from_what_the_code_enforces(monkeypatch: pytest.MonkeyPatch) -> None:
    for language in ("en", "zh-hans"):
        text = printed(language)
        for value in (rotation.PLANNED_SHARE, rotation.MOST_SHARE, rotation.PUBLIC_SHARE, rotation.SATURATED):
            assert f"| {100 * value:.3g} % |" in text
        assert f"| {limits.SHIFT_BELOW} |" in text
        assert f"| {rotation.ANCHORS} |" in text
    assert f"does so within | {rotation.ENTRY_STAYS['rotating'].days} days |" in printed("en")
    monkeypatch.setattr(rotation, "PLANNED_SHARE", 0.07)
    monkeypatch.setattr(rotation, "STOCK_FACTOR", 5)
    monkeypatch.setattr(limits, "SHIFT_BELOW", 0.8)
    text = printed("en")
    for row in ("| 7 % |", "| at least 5 times |", "| 0.8 |"):
        assert row in text


@pytest.mark.parametrize(
    ("language", "title"), [("en", "Held-out Governance Rules"), ("zh-hans", "保留组治理规则")]
)
def test_the_page_says_what_the_document_says(language: str, title: str) -> None:
    site.task_set()
    text = printed(language)
    page = Client().get(f"/{language}/rules/held-out/").content.decode()
    assert title in text
    assert title in page
    headings = [line.removeprefix("## ") for line in text.splitlines() if line.startswith("## ")]
    assert len(headings) == len(rulebook.sections())
    assert all(heading in page for heading in headings)
