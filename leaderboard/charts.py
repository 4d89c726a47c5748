"""Interval charts as SVG, drawn on the server: a point ± h per row on one axis from 0 to 100.

Pure functions from rows to markup; styling is by class, so the strict content policy holds and dark mode and
print follow the style sheet. Source of the numbers: the release function; nothing is rounded or computed here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

LOWEST, HIGHEST = 0, 100
TICKS = (0, 25, 50, 75, 100)


@dataclass(frozen=True)
class Row:
    """One line of a chart. `value` and `h` are points on 0..100, or None where nothing is shown; `note` says why."""

    label: str
    value: int | None
    h: int | None
    note: str = ""
    indented: bool = False

    @property
    def ends(self) -> tuple[int, int]:
        """The interval's ends, kept inside the axis. Only where there is a value."""
        if self.value is None:
            raise ValueError("a row without a value has no interval")
        reach = self.h or 0
        return max(LOWEST, self.value - reach), min(HIGHEST, self.value + reach)

    @property
    def reading(self) -> str:
        """The numbers as printed beside the bar."""
        if self.value is None:
            return self.note or _("not reported")
        return f"{self.value} ± {self.h}" if self.h is not None else str(self.value)


@dataclass(frozen=True)
class Frame:
    """Measures of a chart in SVG units: the axis from `left`, `span` long; rows `step` high below `top`."""

    width: int
    left: int
    span: int
    top: int
    step: int
    stacked: bool

    def x(self, points: int) -> str:
        return f"{self.left + self.span * points / HIGHEST:g}"


WIDE = Frame(width=760, left=210, span=420, top=28, step=36, stacked=False)
NARROW = Frame(width=340, left=10, span=320, top=24, step=52, stacked=True)


def description(rows: Iterable[Row]) -> str:
    """The chart in words, for those who do not see it."""
    return "; ".join(f"{row.label}: {row.reading}" for row in rows)


def _ticks(frame: Frame, bottom: int) -> SafeString:
    lines = [
        (frame.x(tick), frame.top - 6, frame.x(tick), bottom, frame.x(tick), frame.top - 12, tick)
        for tick in TICKS
    ]
    return format_html_join(
        "",
        '<line class="grid" x1="{}" y1="{}" x2="{}" y2="{}"/>'
        '<text class="tick-label" x="{}" y="{}" text-anchor="middle">{}</text>',
        lines,
    )


def _bar(row: Row, frame: Frame, y: int) -> SafeString:
    if row.value is None:
        return SafeString("")
    low, high = row.ends
    width = frame.span * (high - low) / HIGHEST
    return format_html(
        '<rect class="band" x="{}" y="{}" width="{}" height="14"/>'
        '<line class="whisker" x1="{}" y1="{}" x2="{}" y2="{}"/><line class="whisker" x1="{}" y1="{}" x2="{}" y2="{}"/>'
        '<circle class="point" cx="{}" cy="{}" r="5.5"/>',
        *(frame.x(low), y - 7, f"{width:g}"),
        *(frame.x(low), y - 7, frame.x(low), y + 7, frame.x(high), y - 7, frame.x(high), y + 7),
        *(frame.x(row.value), y),
    )


def _row(row: Row, frame: Frame, index: int) -> SafeString:
    top = frame.top + frame.step * index
    middle = top + (frame.step * 2 // 3 if frame.stacked else frame.step // 2)
    words = top + 18 if frame.stacked else middle + 4
    indent = 16 if row.indented else 0
    axis = format_html(
        '<line class="axis" x1="{}" y1="{}" x2="{}" y2="{}"/>',
        frame.x(LOWEST), middle, frame.x(HIGHEST), middle,
    )  # fmt: skip
    label_x = (frame.left if frame.stacked else 4) + indent
    label = format_html('<text x="{}" y="{}">{}</text>', label_x, words, row.label)
    reading_x, anchor = (
        (frame.width - 10, "end") if frame.stacked else (frame.left + frame.span + 20, "start")
    )
    reading = format_html(
        '<text class="{}" x="{}" y="{}" text-anchor="{}">{}</text>',
        "reading" if row.value is not None else "withheld", reading_x, words, anchor, row.reading,
    )  # fmt: skip
    return format_html("{}{}{}{}", axis, _bar(row, frame, middle), label, reading)


def chart(rows: Sequence[Row], *, title: str, frame: Frame, name: str) -> SafeString:
    """One `<svg>` with title and description; `name` makes its ids unique within the page."""
    bottom = frame.top + frame.step * len(rows)
    body = format_html_join("", "{}", ((_row(row, frame, index),) for index, row in enumerate(rows)))
    return format_html(
        '<svg class="interval" viewBox="0 0 {} {}" role="img" aria-labelledby="{}-title {}-desc">'
        '<title id="{}-title">{}</title><desc id="{}-desc">{}</desc>{}{}</svg>',
        *(frame.width, bottom + 8, name, name, name, title, name, description(rows)),
        *(_ticks(frame, bottom), body),
    )


def strip(row: Row) -> SafeString:
    """A bare strip of one interval for lists; the words stand beside it in the list."""
    if row.value is None:
        mark = SafeString("")
    else:
        low, high = row.ends
        mark = format_html(
            '<rect class="band" x="{}" y="5" width="{}" height="10"/><circle class="point" cx="{}" cy="10" r="4"/>',
            low * 2 + 5, (high - low) * 2, row.value * 2 + 5,
        )  # fmt: skip
    return format_html(
        '<svg class="interval" viewBox="0 0 210 20" preserveAspectRatio="xMidYMid meet" aria-hidden="true">'
        '<line class="axis" x1="5" y1="10" x2="205" y2="10"/><line class="grid" x1="5" y1="4" x2="5" y2="16"/>'
        '<line class="grid" x1="105" y1="4" x2="105" y2="16"/>'
        '<line class="grid" x1="205" y1="4" x2="205" y2="16"/>{}</svg>',
        mark,
    )


def meter(*, limit: int, used: int, held: int) -> SafeString:
    """Segments for small limits, one bar for large ones: used, then reserved, then free."""
    segments = min(limit, 12) or 1
    gap = 1 if limit > 1 else 0
    width = (100 - gap * (segments - 1)) / segments

    def tone(index: int) -> str:
        reach = (index + 1) * limit / segments
        return "used" if reach <= used else "held" if reach <= used + held else "free"

    rects = format_html_join(
        "",
        '<rect class="meter-{}" x="{}" y="1" width="{}" height="8"/>',
        ((tone(index), f"{index * (width + gap):.4g}", f"{width:.4g}") for index in range(segments)),
    )
    return format_html(
        '<svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">{}</svg>', rects
    )
