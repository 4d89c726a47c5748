"""Staff: public tasks against held-out ones, from the public runs made inside submissions.

Web processes load this module, and the numerical libraries only when the page is asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from accounts.access import deciding_page
from accounts.duties.table import Decision
from benchmark.models import TaskSetVersion
from governance.watch import charts, queries
from governance.watch.models import GapFigure

for_governors = deciding_page(Decision.HOLD)
CONFIDENCE = 0.975
POINTS = 100


@dataclass(frozen=True)
class Measured:
    """One submission of a line, in points."""

    figure: GapFigure
    gap: float
    half_width: float
    usual: float
    is_signal: bool


@dataclass(frozen=True)
class LineShown:
    """One harness line over time, with its chart on wide and on narrow screens."""

    organisation: str
    harness: str
    measured: list[Measured]
    wide: str
    narrow: str


@dataclass(frozen=True)
class VersionShown:
    task_set: TaskSetVersion
    lines: list[LineShown]


@require_safe
@for_governors
def gaps(request: HttpRequest) -> HttpResponse:
    """Every version that has a figure, newest first; lines with the largest gap beyond the usual one first."""
    from governance.detection.channels import gap as channel

    measured = TaskSetVersion.objects.filter(pk__in=GapFigure.objects.values("task_set"))
    shown = [VersionShown(row, _lines(row)) for row in measured.order_by("-opened_at")]
    context: dict[str, Any] = {
        "versions": shown,
        "level": channel.LEVEL,
        "least": round(POINTS * channel.LEAST),
    }
    return render(request, "console/gaps.html", context)


def _lines(task_set: TaskSetVersion) -> list[LineShown]:
    def line(row: GapFigure) -> str:
        return str(row.submission.harness_version.harness_id)

    rows = sorted(queries.gaps(task_set), key=line)
    found = [_line(key, list(group)) for key, group in groupby(rows, key=line)]
    return sorted(found, key=lambda one: -max(row.gap - row.usual for row in one.measured))


def _line(key: str, figures: list[GapFigure]) -> LineShown:
    measured = [_measured(row) for row in figures]
    rows = [
        charts.GapRow(row.figure.submission.harness_version.version, row.gap, row.half_width, row.usual)
        for row in measured
    ]
    harness = figures[0].submission.harness_version.harness
    title = _("Gap of %(harness)s by version") % {"harness": harness.name}
    return LineShown(
        organisation=figures[0].submission.organisation.name,
        harness=harness.name,
        measured=measured,
        wide=charts.chart(rows, title=title, frame=charts.WIDE, name=f"gap-{key}"),
        narrow=charts.chart(rows, title=title, frame=charts.NARROW, name=f"gap-narrow-{key}"),
    )


def _measured(figure: GapFigure) -> Measured:
    from scipy import stats

    from governance.detection.channels import gap as channel

    reach = float(stats.t.ppf(CONFIDENCE, max(1, figure.tasks - 1))) * figure.error
    beyond = figure.mean - figure.usual
    return Measured(
        figure=figure,
        gap=POINTS * figure.mean,
        half_width=POINTS * reach,
        usual=POINTS * figure.usual,
        is_signal=figure.error > 0 and beyond >= max(channel.LEAST, channel.LEVEL * figure.error),
    )
