"""The gap chart as SVG, drawn on the server: gap ± its interval per submission, on an axis of points around 0.

Styling is by class, as in the interval charts of results, so that dark mode and print follow the style sheet.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

REACH = 50
"""Points on either side of 0; what lies further is drawn at the edge, and its figures stand beside it."""
TICKS = (-50, -25, 0, 25, 50)


@dataclass(frozen=True)
class GapRow:
    """One submission, in points: the gap, half the width of its 95 % interval, and the usual gap."""

    label: str
    gap: float
    half_width: float
    usual: float

    @property
    def reading(self) -> str:
        return f"{self.gap:+.0f} ± {self.half_width:.0f}"


@dataclass(frozen=True)
class GapFrame:
    """Measures in SVG units: the axis from `left`, `span` long; rows `step` high below `top`."""

    width: int
    left: int
    span: int
    top: int
    step: int
    stacked: bool

    def x(self, points: float) -> str:
        inside = max(-REACH, min(REACH, points))
        return f"{self.left + self.span * (inside + REACH) / (2 * REACH):.1f}"


WIDE = GapFrame(width=760, left=210, span=420, top=28, step=36, stacked=False)
NARROW = GapFrame(width=340, left=20, span=300, top=24, step=52, stacked=True)


def chart(rows: Sequence[GapRow], *, title: str, frame: GapFrame, name: str) -> SafeString:
    """One `<svg>` with title and description; `name` makes its ids unique within the page."""
    bottom = frame.top + frame.step * len(rows)
    body = format_html_join("", "{}", ((_row(row, frame, index),) for index, row in enumerate(rows)))
    words = "; ".join(f"{row.label}: {row.reading}" for row in rows)
    return format_html(
        '<svg class="interval" viewBox="0 0 {} {}" role="img" aria-labelledby="{}-title {}-desc">'
        '<title id="{}-title">{}</title><desc id="{}-desc">{}</desc>{}{}</svg>',
        *(frame.width, bottom + 8, name, name, name, title, name, words),
        *(_ticks(frame, bottom), body),
    )


def _ticks(frame: GapFrame, bottom: int) -> SafeString:
    lines = [
        (
            frame.x(tick),
            frame.top - 6,
            frame.x(tick),
            bottom,
            frame.x(tick),
            frame.top - 12,
            f"{tick:+d}" if tick else "0",
        )
        for tick in TICKS
    ]
    return format_html_join(
        "",
        '<line class="grid" x1="{}" y1="{}" x2="{}" y2="{}"/>'
        '<text class="tick-label" x="{}" y="{}" text-anchor="middle">{}</text>',
        lines,
    )


def _row(row: GapRow, frame: GapFrame, index: int) -> SafeString:
    top = frame.top + frame.step * index
    middle = top + (frame.step * 2 // 3 if frame.stacked else frame.step // 2)
    words = top + 18 if frame.stacked else middle + 4
    low, high = float(frame.x(row.gap - row.half_width)), float(frame.x(row.gap + row.half_width))
    reading_x, anchor = (
        (frame.width - 10, "end") if frame.stacked else (frame.left + frame.span + 20, "start")
    )
    return format_html(
        '<line class="axis" x1="{}" y1="{}" x2="{}" y2="{}"/>'
        '<rect class="band" x="{}" y="{}" width="{}" height="14"/>'
        '<line class="whisker" x1="{}" y1="{}" x2="{}" y2="{}"/>'
        '<circle class="point" cx="{}" cy="{}" r="5.5"/>'
        '<text x="{}" y="{}">{}</text><text class="reading" x="{}" y="{}" text-anchor="{}">{}</text>',
        *(frame.left, middle, frame.left + frame.span, middle),
        *(f"{low:.1f}", middle - 7, f"{max(1.0, high - low):.1f}"),
        *(frame.x(row.usual), middle - 10, frame.x(row.usual), middle + 10),
        *(frame.x(row.gap), middle),
        *(frame.left if frame.stacked else 4, words, row.label, reading_x, words, anchor, row.reading),
    )
