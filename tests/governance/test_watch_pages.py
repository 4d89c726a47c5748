"""The gap page: what it measures, that few see it, and what it says of its own limits."""

from __future__ import annotations

import pytest

from accounts.duties.table import Duty
from benchmark.models import TaskSetVersion
from governance.watch.charts import NARROW, WIDE, GapRow, chart
from governance.watch.models import GapFigure
from tests.accounts.duties import opened
from tests.governance.analysing import Answers, evaluated, ticked, version_of_three
from tests.pages import site
from tests.submissions import world

pytestmark = pytest.mark.django_db
PATH = "/en/console/gaps/"


@pytest.fixture
def version() -> TaskSetVersion:
    return version_of_three()


def test_the_gap_is_that_of_the_public_runs_inside_submissions(version: TaskSetVersion) -> None:
    """Both public tasks of each domain are solved, and half of their held-out neighbours: 50 points."""
    vendor = world.vendor()
    harness = vendor.harness()
    for build, public in (("one", 2), ("two", 0)):
        ticked(evaluated(vendor, version, harness, Answers(build, public=public)))
    first, second = GapFigure.objects.order_by("measured_at")
    assert (first.mean, first.usual, first.error, first.tasks, first.preflights) == (0.5, 0, 0, 8, 0)
    assert (second.mean, second.lines, second.preflights) == (-0.5, 1, 1)
    governor = site.signed_in(opened().holder(Duty.HELD_OUT_GOVERNOR))
    page = governor.get(PATH)
    assert page.status_code == 200
    text = page.content.decode()
    for words in ("+50 ± 0", "-50 ± 0", "Sampling error", "Heterogeneity", "Preflights before"):
        assert words in text
    assert not [slug for slug in ("held-out-1", "public-1") if slug in text]
    assert site.signed_in(vendor.user).get(PATH).status_code == 404


def test_an_empty_page_says_so(version: TaskSetVersion) -> None:
    governor = site.signed_in(opened().holder(Duty.HELD_OUT_GOVERNOR))
    assert "No submission was analysed yet." in governor.get(PATH).content.decode()


def test_the_chart_keeps_what_lies_beyond_its_axis_at_the_edge() -> None:
    rows = [GapRow("1.0", 70.0, 10.0, 0.0), GapRow("<b>", -12.4, 8.0, 3.0)]
    for frame in (WIDE, NARROW):
        found = chart(rows, title="Gap", frame=frame, name="g")
        assert f'cx="{frame.left + frame.span:.1f}"' in found
        assert "-12 ± 8" in found
        assert "<b>" not in found
