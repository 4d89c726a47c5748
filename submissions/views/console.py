"""Staff pages: what is running and what it waits for, organisations to verify, what workers proved at start."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from accounts import services as accounts
from accounts.access import staff_page
from accounts.models import Organisation
from accounts.queries import waiting_for_review
from accounts.views import signed_in
from config import clock
from evaluation.queries import live_workers
from submissions import queries

SEEN_WITHIN = timedelta(minutes=10)
"""Workers silent for longer are no longer listed."""


@require_safe
@staff_page
def running(request: HttpRequest) -> HttpResponse:
    """Every submission that is not at an end, oldest state first."""
    context = {"rows": queries.running_for_staff(), "waiting_for_review": len(waiting_for_review())}
    return render(request, "console/submissions.html", context)


@require_safe
@staff_page
def organisations(request: HttpRequest) -> HttpResponse:
    rows = [
        (row, row.memberships.select_related("user").order_by("created_at").first())
        for row in waiting_for_review()
    ]
    return render(request, "console/organisations.html", {"rows": rows})


@require_http_methods(["GET", "HEAD", "POST"])
@staff_page
def verify(request: HttpRequest, organisation: UUID) -> HttpResponse:
    """A page of its own that says what verifying does, and does it."""
    found = get_object_or_404(Organisation, id=organisation, state=Organisation.State.UNDER_REVIEW)
    if request.method == "POST":
        accounts.verify_organisation(found, by=accounts.actor_for(signed_in(request), channel="web"))
        messages.success(request, _("%(name)s is verified and can submit.") % {"name": found.name})
        return redirect("console:organisations")
    members = found.memberships.select_related("user").order_by("created_at")
    return render(request, "console/verify.html", {"organisation": found, "members": members})


@require_safe
@staff_page
def workers(request: HttpRequest) -> HttpResponse:
    rows: list[dict[str, Any]] = [
        {"worker": worker, "probes": probes(worker.report)}
        for worker in live_workers(clock.now() - SEEN_WITHIN)
    ]
    return render(request, "console/workers.html", {"rows": rows})


def probes(report: dict[str, Any]) -> list[tuple[str, str, str]]:
    """(name, state of the status table, what was seen) of each probe in a worker's isolation report."""
    words = {"pass": "passed", "fail": "failed"}
    found = []
    for probe in report.get("probes", []):
        result = str(probe.get("result", ""))
        found.append((str(probe.get("name", "")), words.get(result, result), str(probe.get("detail", ""))))
    return found
