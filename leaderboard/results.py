"""A released result as rows of a chart and a table. Nothing is computed here: numbers stand as they were released."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from benchmark.models import ENTERPRISE, Domain
from governance.confirmation.words import SIDES
from governance.models import DomainAggregate
from governance.queries import DomainRow, ReleasedResult
from leaderboard.charts import Row


@dataclass(frozen=True)
class ResultLine:
    """One row of the table: the chart's row, the released figures, and the reason where there are none."""

    row: Row
    released: DomainRow
    note: str
    short: str
    """The label where there is little room."""
    tasks: int | None
    """Held-out tasks behind the value, as the version's composition counts them; None where it is silent."""

    @property
    def interval(self) -> str:
        """The ends of the interval on the axis; empty where nothing is shown."""
        if self.row.value is None:
            return ""
        low, high = self.row.ends
        return f"{low}–{high}"

    @property
    def bounds(self) -> str:
        """What an incomplete result could at least and at most have been."""
        if self.released.low is None or self.released.high is None:
            return ""
        return f"{self.released.low}–{self.released.high}"


def lines(result: ReleasedResult, tasks: Mapping[str, int] | None = None) -> list[ResultLine]:
    """General; Enterprise, with its three domains under it. `tasks` counts the held-out tasks of each domain."""
    counts = dict(tasks or {})
    whole = sum(counts.get(domain.value, 0) for domain in ENTERPRISE) or None
    general, enterprise = Domain.GENERAL, _("Enterprise (mean of three)")
    found = [_line(result.row(general), str(general.label), tasks=counts.get(general.value))]
    found.append(_line(result.enterprise, enterprise, short=_("Enterprise"), tasks=whole))
    return found + [
        _line(result.row(domain), str(domain.label), indented=True, tasks=counts.get(domain.value))
        for domain in ENTERPRISE
    ]


def _line(
    released: DomainRow, label: str, *, short: str = "", indented: bool = False, tasks: int | None
) -> ResultLine:
    withheld = released.value is None
    row = Row(
        label, released.value, released.h, note=_("not reported") if withheld else "", indented=indented
    )
    return ResultLine(row, released, _reason(released) if withheld else "", short or label, tasks)


def _reason(released: DomainRow) -> str:
    if released.reason:
        return str(DomainAggregate.Reason(released.reason).label)
    return _("not shown, because a domain has no value") if released.domain == "enterprise" else ""


def side_lines(result: ReleasedResult) -> list[dict[str, str]]:
    """The side figures of a confirmed result, each in one line: "General 71, Enterprise 64"."""
    places = {**dict(Domain.choices), "enterprise": _("Enterprise")}
    return [
        {
            "word": str(word),
            "text": ", ".join(f"{places[place]} {value}" for place, value in result.sides[name].items()),
        }
        for name, word in SIDES.items()
        if name in result.sides
    ]


def former_lines(result: ReleasedResult) -> list[dict[str, Any]]:
    """What was shown before a correction, where it is another value now."""
    if result.corrected is None:
        return []
    places = {**dict(Domain.choices), "enterprise": _("Enterprise")}
    now = {row.domain: row.value for row in (*result.domains, result.enterprise)}
    return [
        {"label": places[place], **value}
        for place, value in result.corrected.former.items()
        if value["value"] != now.get(place)
    ]


def revision_lines(found: Mapping[str, Any]) -> dict[str, Any]:
    """What is said of tasks under revision: how many, and by domain how far its value could differ without them."""
    if not found:
        return {}
    places = dict(Domain.choices)
    reaches = [{"domain": places[place], "points": points} for place, points in found["at_most"].items()]
    return {"tasks": found["tasks"], "reaches": reaches}


def chart_rows(result: ReleasedResult) -> list[Row]:
    return [line.row for line in lines(result)]
