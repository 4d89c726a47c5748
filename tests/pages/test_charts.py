"""Interval charts and meters: where things are drawn, and that the words say the same. No database."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaderboard import charts
from leaderboard.charts import Row


def test_a_point_stands_at_its_value_on_the_axis() -> None:
    drawn = charts.chart([Row("Finance", 50, 10)], title="T", frame=charts.WIDE, name="c")
    middle = charts.WIDE.left + charts.WIDE.span / 2
    assert f'cx="{middle:g}"' in drawn
    low = charts.WIDE.left + charts.WIDE.span * 0.4
    assert f'<rect class="band" x="{low:g}"' in drawn
    assert f'width="{charts.WIDE.span * 0.2:g}"' in drawn


def test_title_and_description_say_what_the_picture_shows() -> None:
    rows = [Row("General", 46, 9), Row("Finance", None, None, note="not reported")]
    drawn = charts.chart(rows, title="Scores", frame=charts.NARROW, name="c")
    assert '<title id="c-title">Scores</title>' in drawn
    assert "General: 46 ± 9; Finance: not reported" in drawn
    assert 'role="img" aria-labelledby="c-title c-desc"' in drawn
    assert drawn.count("<circle") == 1


def test_markup_in_a_label_stays_text() -> None:
    drawn = charts.chart([Row("<script>", 1, 1)], title="<b>", frame=charts.WIDE, name="c")
    assert "<script>" not in drawn
    assert "<b>" not in drawn


def test_nothing_is_styled_inline() -> None:
    drawn = charts.chart([Row("A", 1, 5), Row("B", 99, 5)], title="T", frame=charts.WIDE, name="c")
    assert "style" not in drawn + charts.strip(Row("A", 50, 3)) + charts.meter(limit=3, used=1, held=1)


@given(st.integers(0, 100), st.integers(1, 60))
def test_an_interval_never_leaves_the_axis(value: int, h: int) -> None:
    low, high = Row("A", value, h).ends
    assert 0 <= low <= value <= high <= 100


@pytest.mark.parametrize(
    ("limit", "used", "held", "expected"),
    [
        (3, 1, 1, ["used", "held", "free"]),
        (3, 3, 0, ["used", "used", "used"]),
        (1, 0, 0, ["free"]),
        (0, 0, 0, ["used"]),
        (24, 12, 0, ["used"] * 6 + ["free"] * 6),
    ],
)
def test_a_meter_shows_used_reserved_and_free(limit: int, used: int, held: int, expected: list[str]) -> None:
    assert re.findall(r'class="meter-(\w+)"', charts.meter(limit=limit, used=used, held=held)) == expected
