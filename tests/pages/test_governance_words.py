"""Pages of governance say in words what rows hold as codes, and their area's list marks where one is."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from django.utils import translation

from governance.appeals import words as appeals
from leaderboard import words
from tests.factories import frozen_version
from tests.governance.appeals import arranged
from tests.governance.rotation import rows
from tests.pages import site
from tests.submissions import world

MARKED = re.compile(r'<a href="([^"]+)" aria-current="true">')


def marked(browser: Client, path: str) -> list[str]:
    """Which links of the area's list are marked, by their addresses."""
    answer = browser.get(path)
    assert answer.status_code == 200
    return [found for found in MARKED.findall(answer.content.decode()) if "/console/" in found]


def test_classification_and_checks_have_words_in_both_languages() -> None:
    with translation.override("en"):
        assert words.classified("supply_chain/voucher") == "Supply chain · vouchers"
        assert words.classified("tier") == "difficulty"
        assert words.classified("rule-script") == "rule-script"
        assert words.stratum(("finance", "voucher", "query", 3)) == "vouchers · query · hard"
        assert words.failed_check("smd:budget") == "standardised difference of time allowed"
        assert words.failed_check("shift:finance") == "move of a fixed harness in Finance"
        assert words.failed_check("classifier") == "a classifier tells the two groups apart"
    with translation.override("zh-hans"):
        assert "财务" in words.failed_check("shift:finance")
        assert words.stratum(("finance", "voucher", "query", 1)).isascii() is False


def test_facts_of_an_appeal_have_names_and_their_instants_are_instants() -> None:
    with translation.override("en"):
        found = appeals.facts({"since": "2026-12-01T12:00:00+00:00", "state": "held", "code": "no_such"})
        assert [fact.name for fact in found] == ["State of the submission", "Reason", "Since"]
        assert (found[0].value, found[1].value) == ("held for review", "no_such")
        assert found[2].at is not None
        (quota,) = appeals.facts({"use": "refunded"})
        assert quota.value == "returned"


@pytest.mark.django_db
def test_the_list_of_the_area_marks_the_nearest_page_alone() -> None:
    governor, _other = rows.governors()
    browser, entry = site.signed_in(governor), rows.queued(frozen_version("9.0"))
    queue, stock, signals = (
        site.address(name) for name in ("rotating:queue", "rotating:stock", "signals:signals")
    )
    assert marked(browser, site.address("rotating:entry", entry.id)) == [queue]
    assert marked(browser, stock) == [stock]
    held = arranged.held(world.vendor(), site.task_set())
    assert marked(browser, site.address("signals:hold", held.id)) == [signals]
