"""The dossier of a version marks past results as the result page does: another version came, values were corrected."""

from __future__ import annotations

import pytest
from django.test import Client

from governance.records import services
from tests.factories import BY, frozen_version
from tests.governance.rotation import rows
from tests.pages import site

pytestmark = pytest.mark.django_db


def dossier(label: str, language: str = "en") -> str:
    answer = Client().get(site.address("records:dossier", label, language=language))
    assert answer.status_code == 200
    return " ".join(answer.content.decode().split())


def test_a_version_whose_place_was_taken_marks_its_results_and_points_on() -> None:
    former, following = site.task_set(), frozen_version("2027.3")
    assert "Past results" not in dossier(former.label)
    rows.succeeded(former, following)
    text = dossier(former.label)
    assert "Version 2027.3 has taken the place of this one." in text
    assert "past results stand and are annotated" in text
    assert site.address("records:dossier", "2027.3") in text
    after = dossier(following.label)
    assert f"has taken the place of version {former.label}" in after
    assert site.address("records:dossier", former.label) in after


def test_recomputed_results_are_called_so_in_both_languages() -> None:
    former = site.task_set()
    rows.succeeded(former, frozen_version("2027.3"), mark="recomputed")
    assert "past results were recomputed" in dossier(former.label)
    assert "past results" not in dossier(former.label, "zh-hans").lower()


def test_corrections_that_were_said_are_counted_by_cause() -> None:
    version = site.task_set()
    for cause in ("ruling", "defect", "defect"):
        services.add_line("regrade", version, facts={"cause": cause}, by=BY)
    text = dossier(version.label)
    assert "Results were corrected 2 times because of a defect that is settled." in text
    assert "Results were corrected once because of a ruling on an appeal." in text
    assert "A corrected result shows both values and since when." in text
