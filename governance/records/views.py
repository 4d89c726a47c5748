"""Public pages of versions: their dossiers, the change log, the retirement list, errata. The same as JSON beside."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from benchmark.models import Domain, Group, TaskSetVersion
from governance.models import ReleaseDate
from governance.queries import current_policy
from governance.records import lines, queries
from governance.records.models import ChangeLogLine
from governance.records.reach import reach


def line_of(row: ChangeLogLine) -> dict[str, Any]:
    """A line as pages show it, in the viewer's language."""
    return {"row": row, "sentence": lines.sentence(row.kind, row.facts)}


@require_safe
def versions(request: HttpRequest) -> HttpResponse:
    """Every version that was ever open."""
    return render(request, "records/versions.html", {"rows": queries.versions()})


@require_safe
def version(request: HttpRequest, label: str) -> HttpResponse:
    """What a version consists of, what is known to be wrong with it, and what was said about it."""
    found = _version(label)
    counts = [_count(found, domain) for domain in Domain]
    under = queries.defects_of(found)
    context = {
        "version": found,
        "counts": counts,
        "public": sum(row["public"] for row in counts),
        "held_out": sum(row["held_out"] for row in counts),
        "policy": current_policy(found),
        "under_revision": under,
        "reaches": [
            {"label": row["label"], "points": _furthest(under, row["held_out"])}
            for row in counts
            if row["held_out"]
        ],
        # Rotation's rows, above this layer: read from the version, which does not know them either.
        "succession": getattr(found, "succession", None),
        "precession": getattr(found, "precession", None),
        "corrected": [
            {"because": lines.CAUSES[cause], "times": times}
            for cause, times in sorted(queries.regrades_said(found).items())
        ],
        "lines": [line_of(row) for row in queries.change_log(found)],
    }
    return render(request, "records/version.html", context)


def _furthest(under: int, tasks: int) -> int:
    """Over all values that can be shown."""
    return max(reach(value, under_revision=under, tasks=tasks) for value in range(101))


def _count(found: TaskSetVersion, domain: Domain) -> dict[str, Any]:
    groups = found.composition.get(domain.value, {}).get("groups", {})
    return {
        "label": domain.label,
        "public": groups.get(Group.PUBLIC, 0),
        "held_out": groups.get(Group.HELD_OUT, 0),
    }


@require_safe
def change_log(request: HttpRequest) -> HttpResponse:
    context = {"lines": [line_of(row) for row in queries.change_log()], "errata": queries.errata()}
    return render(request, "records/change_log.html", context)


@require_safe
def change_log_file(request: HttpRequest) -> HttpResponse:
    return _json({"schema": "change-log/1", "lines": [queries.face(row) for row in queries.change_log()]})


@require_safe
def retirement_list(request: HttpRequest) -> HttpResponse:
    """Tasks that are contaminated, distorted or outdated (white paper 7.3)."""
    return render(request, "records/retirement_list.html", {"rows": queries.retirement_list()})


@require_safe
def retirement_list_file(request: HttpRequest) -> HttpResponse:
    rows = [
        {"task": row.task, "reason": row.reason, "task_set": row.task_set, "said_at": row.said_at.isoformat()}
        for row in queries.retirement_list()
    ]
    return _json({"schema": "retirement-list/1", "tasks": rows})


@require_safe
def errata(request: HttpRequest, label: str) -> HttpResponse:
    """What the document of a date of errata says."""
    date = _errata(label)
    rows = [line_of(row) for row in date.change_log.select_related("task_set").order_by("said_at", "id")]
    return render(request, "records/errata.html", {"date": date, "lines": rows})


@require_safe
def errata_file(request: HttpRequest, label: str) -> HttpResponse:
    """The very bytes whose SHA-256 the log names."""
    answer = HttpResponse(_errata(label).document.encode(), content_type="application/json")
    answer["Content-Disposition"] = f'attachment; filename="{label}.json"'
    return answer


def _errata(label: str) -> ReleaseDate:
    found = queries.erratum(label)
    if found is None:
        raise Http404
    return found


def _version(label: str) -> TaskSetVersion:
    found = next((row for row in queries.versions() if row.label == label), None)
    if found is None:
        raise Http404
    return found


def _json(body: dict[str, Any]) -> HttpResponse:
    return JsonResponse(body, json_dumps_params={"ensure_ascii": False})
