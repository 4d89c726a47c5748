"""The public calendar, and what each dated release published."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from benchmark.models import ENTERPRISE, Domain
from governance.confirmation import document, published
from governance.confirmation.models import ReleaseDate
from governance.confirmation.words import SIDES


@require_safe
def releases(request: HttpRequest) -> HttpResponse:
    """Dates that are announced and those that took place."""
    return render(request, "leaderboard/releases.html", {"rows": published.calendar()})


@require_safe
def dated_release(request: HttpRequest, label: str) -> HttpResponse:
    date = _dated(label)
    body = document.read(date)
    context = {
        "date": date,
        "results": [{**entry, "rows": rows_of(entry)} for entry in body["results"]],
        "withdrawn": body["withdrawn"],
        "words": list(SIDES.items()),
    }
    return render(request, "leaderboard/dated_release.html", context)


@require_safe
def dated_release_file(request: HttpRequest, label: str) -> HttpResponse:
    """The very bytes whose SHA-256 the log names."""
    answer = HttpResponse(_dated(label).document.encode(), content_type="application/json")
    answer["Content-Disposition"] = f'attachment; filename="{label}.json"'
    return answer


def _dated(label: str) -> ReleaseDate:
    found = published.dated(label)
    if found is None:
        raise Http404
    return found


def rows_of(entry: Mapping[str, Any]) -> list[dict[str, Any]]:
    """General; Enterprise, with its three domains under it; numbers as the document has them."""
    shown = {**entry["domains"], "enterprise": entry["enterprise"]}
    places = [(Domain.GENERAL.value, str(Domain.GENERAL.label), False)]
    places.append(("enterprise", _("Enterprise (mean of three)"), False))
    places += [(domain.value, str(domain.label), True) for domain in ENTERPRISE]
    return [
        {
            "label": label,
            "indented": indented,
            "value": (shown.get(name) or {}).get("value"),
            "h": (shown.get(name) or {}).get("h"),
            "sides": [entry["sides"][side].get(name) for side in SIDES if side in entry["sides"]],
        }
        for name, label, indented in places
    ]
