"""Staff pages of blind re-checks: what one of the two is to judge, a run at a time, each showing recorded first."""

from __future__ import annotations

from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from accounts import services as accounts
from accounts.access import staff_page
from accounts.duties.queries import duties_of
from accounts.views import signed_in
from governance.appeals import queries, services, sheets
from governance.appeals.models import RecheckSheet
from governance.appeals.services.deciding import SEE_HELD_OUT
from submissions.delivery import delivers, hand_out
from submissions.problems import Refusal, Refused


@require_safe
@staff_page
@delivers("recheck")
def rechecks(request: HttpRequest) -> HttpResponse:
    """How many runs are left; the next one. Nothing says whose they are."""
    person = signed_in(request)
    if not duties_of(person) & SEE_HELD_OUT:
        raise Http404
    rows = queries.sheets_of(person.pseudonym)
    left = [row for row in rows if row.judged_at is None]
    by = accounts.actor_for(person, channel="web")
    hand_out(request, "recheck", "list", [str(row.id) for row in rows], by=by)
    context = {"done": len(rows) - len(left), "total": len(rows), "next": left[0] if left else None}
    return render(request, "console/rechecks.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@staff_page
@delivers("recheck")
def recheck(request: HttpRequest, sheet: UUID) -> HttpResponse:
    """One run: the task, what is asked of it, what was left; and the two verdicts to choose from."""
    person = signed_in(request)
    row = RecheckSheet.objects.filter(pk=sheet, judge=person.pseudonym).first()
    if row is None or not bytes(row.boxed_key) or not duties_of(person) & SEE_HELD_OUT:
        raise Http404
    by = accounts.actor_for(person, channel="web")
    problem: Refusal | None = None
    verdict = request.POST.get("verdict", "")
    if request.method == "POST" and verdict in ("delivers", "fails"):
        try:
            services.judge(row.id, verdict=verdict, by=by)
        except Refused as refused:
            problem = refused.refusal
        else:
            return redirect("judging:rechecks")
    shown = sheets.opened(row.id, bytes(row.sealed), bytes(row.boxed_key))
    hand_out(request, "recheck", row.id, shown, by=by)
    status = problem.status if problem else 422 if request.method == "POST" else 200
    context = {"row": row, "shown": shown, "problem": problem}
    return render(request, "console/recheck.html", context, status=status)
