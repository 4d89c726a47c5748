"""Pictures of a case as SVG, drawn on the server; styling is by class. A table with the same figures is beside each.

Height, not colour, tells the cells of a strip apart, so they read in print and without colour.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import groupby

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from benchmark.models import Domain

WIDTH, LEFT = 760, 10
SPAN = WIDTH - 2 * LEFT
STRIP_TOP, STRIP_HEIGHT = 22, 36
HEIGHTS = {"1": 16, "2": STRIP_HEIGHT, "3": 4}
"""By cell: changed is half as high as changed without an explanation; what cannot be compared is a line."""
CLASSES = {"1": "changed", "2": "asked", "3": "apart"}
ROW = 30
REACH = 25.0
"""Points on either side of no gain; what lies further is drawn at the edge."""


def strip(cells: str, spans: Sequence[tuple[str, int]], *, title: str, name: str) -> SafeString:
    """One cell for each held-out task, in the order of their metadata; `spans` are the domains with their lengths."""
    unit = SPAN / max(1, len(cells))
    bars, at = [], 0
    for cell, run in groupby(cells):
        length = len(list(run))
        if cell in HEIGHTS:
            height = HEIGHTS[cell]
            top = STRIP_TOP + STRIP_HEIGHT - height
            bars.append((CLASSES[cell], f"{LEFT + at * unit:.2f}", top, f"{length * unit:.2f}", height))
        at += length
    rects = format_html_join("", '<rect class="cell-{}" x="{}" y="{}" width="{}" height="{}"/>', bars)
    return _svg(
        format_html("{}{}", _domains(spans, unit), rects),
        STRIP_TOP + STRIP_HEIGHT + 6,
        title,
        f"strip-{name}",
    )


def _domains(spans: Sequence[tuple[str, int]], unit: float) -> SafeString:
    found, at, places = [], 0, dict(Domain.choices)
    for domain, length in spans:
        x = f"{LEFT + at * unit:.2f}"
        found.append(
            (x, x, STRIP_TOP + STRIP_HEIGHT, f"{LEFT + at * unit + 3:.2f}", places.get(domain, domain))
        )
        at += length
    return format_html_join(
        "",
        '<line class="grid" x1="{}" y1="4" x2="{}" y2="{}"/><text class="tick-label" x="{}" y="14">{}</text>',
        found,
    )


def gains(rows: Sequence[tuple[str, float, float]], name: str) -> SafeString:
    """Differences to the submission before, in points, each on its own noise band around no gain."""
    left, span = 130, WIDTH - 150

    def x(points: float) -> float:
        return left + span * (max(-REACH, min(REACH, points)) + REACH) / (2 * REACH)

    lines = []
    for at, (label, difference, band) in enumerate(rows):
        middle = 20 + ROW * at
        low, high = x(-band), x(band)
        lines.append(
            (middle + 4, label, _tenth(low), middle - 7, _tenth(high - low), _tenth(x(difference)), middle)
        )
    body = format_html_join(
        "",
        '<text x="4" y="{}">{}</text><rect class="band" x="{}" y="{}" width="{}" height="14"/>'
        '<circle class="point" cx="{}" cy="{}" r="5.5"/>',
        lines,
    )
    height = 20 + ROW * len(rows)
    zero = format_html('<line class="axis" x1="{0}" y1="4" x2="{0}" y2="{1}"/>', _tenth(x(0)), height)
    return _svg(format_html("{}{}", zero, body), height + 6, _("Gain against the noise band"), f"gain-{name}")


def timeline(rows: Sequence[tuple[str, datetime]], expiries: Sequence[datetime], name: str) -> SafeString:
    """When submissions were sent (points) and when cooldowns ended (lines)."""
    instants = [*(at for _label, at in rows), *expiries]
    if not instants:
        return SafeString("")
    first, last = min(instants), max(instants)
    whole = max(1.0, (last - first).total_seconds())

    def x(at: datetime) -> str:
        return _tenth(LEFT + 10 + (SPAN - 20) * (at - first).total_seconds() / whole)

    lines = format_html_join(
        "", '<line class="expiry" x1="{0}" y1="8" x2="{0}" y2="52"/>', ((x(at),) for at in expiries)
    )
    points = format_html_join(
        "", '<circle class="point" cx="{}" cy="30" r="5.5"/>', ((x(at),) for _label, at in rows)
    )
    axis = format_html('<line class="axis" x1="{}" y1="30" x2="{}" y2="30"/>', LEFT, LEFT + SPAN)
    title = _("Submissions and ends of cooldowns")
    return _svg(format_html("{}{}{}", axis, lines, points), 60, title, f"time-{name}")


def _tenth(length: float) -> str:
    return f"{length:.1f}"


def _svg(body: SafeString, height: int, title: str, name: str) -> SafeString:
    return format_html(
        '<svg class="interval case-chart" viewBox="0 0 {} {}" role="img" aria-labelledby="{}">'
        '<title id="{}">{}</title>{}</svg>',
        *(WIDTH, height, name, name, title, body),
    )
