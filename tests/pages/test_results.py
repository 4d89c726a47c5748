"""The result page: what was released, and nothing finer."""

from __future__ import annotations

import re

import pytest

from benchmark.models import TaskSetVersion
from submissions.models import Submission
from tests.pages import site
from tests.pages.site import address, signed_in
from tests.submissions import world

pytestmark = pytest.mark.django_db
LABELS = {
    "en": ["General", "Enterprise (mean of three)", "Finance", "Supply chain", "Manufacturing"],
    "zh-hans": ["通用", "企业管理（三领域均值）", "财务", "供应链", "制造"],
}
NO_TOTAL = {
    "en": "Domains are scored differently; no overall total is reported",
    "zh-hans": "各领域评分方式不同，不提供总分",
}


def page(vendor: world.Vendor, submission: Submission, language: str = "en") -> str:
    answer = signed_in(vendor.user).get(address("leaderboard:result", submission.id, language=language))
    assert answer.status_code == 200
    return answer.content.decode()


def rows(text: str) -> list[list[str]]:
    """The table's cells, row by row."""
    table = text[text.index("<tbody>") : text.index("</tbody>")]
    return [re.findall(r"<t[hd][^>]*>([^<]*)</t[hd]>", row) for row in table.split("</tr>") if "<t" in row]


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_the_table_has_five_rows_in_order(vendor: world.Vendor, complete: Submission, language: str) -> None:
    text = page(vendor, complete, language)
    assert [row[0] for row in rows(text)] == LABELS[language]
    assert rows(text)[0][1:] == ["46", "9", "37–55", "3"]
    assert rows(text)[1][1:] == ["44", "6", "38–50", "9"]
    assert NO_TOTAL[language] in text


def test_chart_and_table_say_the_same(vendor: world.Vendor, complete: Submission) -> None:
    text = page(vendor, complete)
    for label, value, h, _interval, _tasks in rows(text):
        assert f"{label}: {value} ± {h}" in text


def test_there_is_no_total(vendor: world.Vendor, complete: Submission) -> None:
    text = page(vendor, complete)
    values = [value for value, _h in site.VALUES.values()]
    assert f">{round(sum(values) / 4)}<" not in text.replace(">44<", "").replace(">45<", ">45<")
    assert len(rows(text)) == 5


def test_the_page_says_that_it_is_private(vendor: world.Vendor, complete: Submission) -> None:
    assert "Private: seen by your team and the evaluators only." in page(vendor, complete)
    assert "不公开" in page(vendor, complete, "zh-hans")


def test_coverage_and_versions_stand_beside(vendor: world.Vendor, complete: Submission) -> None:
    text = page(vendor, complete)
    for words in ("1.00", "every prescribed run is valid", complete.package_digest, "demo policy"):
        assert words in text


def test_a_withheld_value_is_explained(vendor: world.Vendor, version: TaskSetVersion) -> None:
    found = site.moved(site.submission(vendor, version), *site.TO_COMPLETE)
    site.release(found, withheld="finance")
    text = page(vendor, found)
    assert "Behaves like an earlier version on all but a few tasks; its own value is not reported" in text
    assert "Finance: not reported" in text


def test_an_incomplete_result_shows_its_bounds(vendor: world.Vendor, version: TaskSetVersion) -> None:
    found = site.moved(site.submission(vendor, version), *site.TO_COMPLETE)
    site.release(found, bounds=(36, 54))
    text = page(vendor, found)
    assert "Evaluation incomplete" in text
    assert "36–54" in text
    assert "0.97" in text


def test_before_the_release_there_is_no_number(vendor: world.Vendor, version: TaskSetVersion) -> None:
    found = site.moved(site.submission(vendor, version), *site.TO_RUNNING)
    text = page(vendor, found)
    assert "Nothing was released of this submission" in text
    assert '<svg class="interval"' not in text


def test_nothing_of_single_tasks_is_there(vendor: world.Vendor, complete: Submission) -> None:
    assert "held-out-" not in page(vendor, complete)
