"""Staff pages: what is running and what it waits for."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from accounts import services as accounts
from accounts.access import staff_page
from accounts.duties.queries import duties_of
from accounts.duties.table import Duty
from accounts.registration.queries import waiting
from accounts.views import signed_in
from submissions import queries
from submissions.delivery import delivers, show_status


@require_safe
@staff_page
def inbox(request: HttpRequest) -> HttpResponse:
    return redirect("console:submissions")


@require_safe
@staff_page
@delivers("submission")
def running(request: HttpRequest) -> HttpResponse:
    """Every submission that is not at an end, oldest state first."""
    rows = queries.running_for_staff()
    face = [[row.submission.id, row.submission.state, row.work.counts if row.work else None] for row in rows]
    by = accounts.actor_for(signed_in(request), channel="web")
    show_status(request, "submission", ("console", "submissions"), face, by=by)
    is_engineer = Duty.EVALUATION_ENGINEER in duties_of(signed_in(request))
    context = {"rows": rows, "waiting_for_review": len(waiting()), "is_engineer": is_engineer}
    return render(request, "console/submissions.html", context)
