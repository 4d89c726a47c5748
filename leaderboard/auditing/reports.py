"""Statistics, integrity and exports, for auditors."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.db.models import QuerySet
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from accounts.access import AuditorRequest, auditor_page
from accounts.auditors import actor_for
from audit import exports as making
from audit import integrity as checking
from audit import wording
from audit.explore import AUDITOR
from audit.models import Export
from leaderboard.auditing import queries
from leaderboard.auditing.forms import ExportForm

SHOWN = 50


@require_safe
@auditor_page
def statistics(request: HttpRequest) -> HttpResponse:
    """The operator's own submissions against everybody else's: the same figures side by side."""
    return render(request, "audit/statistics.html", queries.comparison())


@require_safe
@auditor_page
def integrity(request: HttpRequest) -> HttpResponse:
    """What the running check found, and what stands still."""
    return render(request, "audit/integrity.html", {"log": checking.overview()})


@require_http_methods(["GET", "HEAD", "POST"])
@auditor_page
def exports(request: AuditorRequest) -> HttpResponse:
    """The audit organisation's exports; asking for one is recorded, and an office worker makes it."""
    names = queries.organisation_names()
    form = ExportForm(request.POST or None, organisations=list(names.items()))
    if request.method == "POST" and form.is_valid():
        making.request(form.selection(), by=actor_for(request.term))
        messages.success(request, _("The export is being made. Load this page again in a while."))
        return redirect("auditing:exports")
    rows = _exports_of(request).order_by("-requested_at")[:SHOWN]
    context = {
        "form": form,
        "rows": [(row, _readable(row.disclosed, names)) for row in rows],
        "newest": next((row for row in rows if row.state == Export.State.DONE), None),
    }
    return render(request, "audit/exports.html", context)


def _readable(disclosed: dict[str, str], names: dict[str, str]) -> list[tuple[str, str]]:
    """What an export discloses, under the labels of the form in its order."""
    fields = ExportForm.base_fields.items()
    return [
        (str(field.label), wording.readable(disclosed[name], names))
        for name, field in fields
        if name in disclosed
    ]


def _exports_of(request: AuditorRequest) -> QuerySet[Export]:
    return (
        Export.objects.using(AUDITOR).defer("key").filter(organisation_id=str(request.term.organisation_id))
    )


@require_safe
@auditor_page
def download(request: AuditorRequest, export: UUID) -> HttpResponse:
    """The tar; that it is handed out is recorded before its first byte."""
    if not _exports_of(request).filter(id=export, state=Export.State.DONE).exists():
        raise Http404
    found = Export.objects.get(id=export)  # its key is for this process's own role
    body = making.open_recorded(found, by=actor_for(request.term))
    name = f"export-{found.id}.tar"
    return FileResponse(body, as_attachment=True, filename=name, content_type="application/x-tar")  # type: ignore[return-value]
