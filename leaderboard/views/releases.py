"""The public calendar, and what each dated release published."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from benchmark.models import ENTERPRISE, Domain
from governance.confirmation import document, names, published
from governance.confirmation.models import ReleaseDate
from governance.confirmation.words import SIDES
from governance.correcting.published import Corrected, of_confirmations
from scoring.ranks import RankRange, Shown, rank_ranges


@require_safe
def releases(request: HttpRequest) -> HttpResponse:
    """Dates that are announced and those that took place."""
    return render(request, "leaderboard/releases.html", {"rows": published.calendar()})


@require_safe
def dated_release(request: HttpRequest, label: str) -> HttpResponse:
    date = _dated(label)
    body, withheld = names.replaced(document.read(date))
    context = {
        "date": date,
        "results": results_of(body["results"]),
        "withdrawn": body["withdrawn"],
        "withheld": withheld,
        "words": list(SIDES.items()),
    }
    return render(request, "leaderboard/dated_release.html", context)


@require_safe
def dated_release_file(request: HttpRequest, label: str) -> HttpResponse:
    """The very bytes whose SHA-256 the log names; with pseudonyms in place of participants who are gone."""
    date = _dated(label)
    body, withheld = names.replaced(document.read(date))
    text = date.document
    if withheld:
        text = json.dumps({**body, "names_withheld": withheld}, ensure_ascii=False, sort_keys=True)
    answer = HttpResponse(text.encode(), content_type="application/json")
    answer["Content-Disposition"] = f'attachment; filename="{label}.json"'
    return answer


def _dated(label: str) -> ReleaseDate:
    found = published.dated(label)
    if found is None:
        raise Http404
    return found


def _corrected(found: Corrected | None) -> dict[str, Any] | None:
    """Beside the values of the document, which stay: those that are other ones now."""
    if found is None:
        return None
    places = {**dict(Domain.choices), "enterprise": _("Enterprise")}
    rows = [
        {"label": places[place], **value}
        for place, value in found.values.items()
        if value != found.former.get(place)
    ]
    return {"at": found.at, "because": found.because, "rows": rows}


def results_of(entries: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Every entry with its rows. A board is one domain of one task-set version; others are never compared."""
    corrected = of_confirmations(entry["id"] for entry in entries)
    found = [
        {**entry, "rows": rows_of(entry), "corrected": _corrected(corrected.get(entry["id"]))}
        for entry in entries
    ]
    boards: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for entry in found:
        for row in entry["rows"]:
            if row["value"] is not None:
                boards.setdefault((entry["versions"]["task_set"], row["name"]), []).append(row)
    for board in boards.values():
        ranges = rank_ranges([Shown(row["value"], row["h"]) for row in board])
        for row, place in zip(board, ranges, strict=True):
            row["place"] = words_of(place)
    return found


def words_of(place: RankRange) -> str:
    """A rank range in words; empty on a board of one."""
    if place.of == 1:
        return ""
    facts = {"best": place.best, "worst": place.worst, "of": place.of}
    if place.tells_nothing:
        return _("No demonstrated difference")
    if place.best == place.worst:
        return _("%(best)d of %(of)d") % facts
    return _("%(best)d to %(worst)d of %(of)d") % facts


def rows_of(entry: Mapping[str, Any]) -> list[dict[str, Any]]:
    """General; Enterprise, with its three domains under it; numbers as the document has them."""
    shown = {**entry["domains"], "enterprise": entry["enterprise"]}
    places = [(Domain.GENERAL.value, str(Domain.GENERAL.label), False)]
    places.append(("enterprise", _("Enterprise (mean of three)"), False))
    places += [(domain.value, str(domain.label), True) for domain in ENTERPRISE]
    return [
        {
            "name": name,
            "label": label,
            "indented": indented,
            "value": (shown.get(name) or {}).get("value"),
            "h": (shown.get(name) or {}).get("h"),
            "sides": [entry["sides"][side].get(name) for side in SIDES if side in entry["sides"]],
        }
        for name, label, indented in places
    ]
