"""Preflights: those of submissions and those on their own. The tasks are public, so everything is shown."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import get_language
from django.views.decorators.http import require_POST, require_safe

from accounts.access import member_page, strong_page
from accounts.linking.services import note_network
from accounts.views import membership_in
from benchmark.models import Domain
from submissions import queries, services
from submissions.api.rates import address_of
from submissions.confidentiality.queries import keeping_of
from submissions.delivery import delivers, hand_out, show_status
from submissions.faces import preflight_face
from submissions.forms import ConfirmForm
from submissions.models import Submission
from submissions.policies.states import ENDS
from submissions.problems import Refused
from submissions.queries import PreflightRun
from submissions.queueing.queries import queue_of
from submissions.views.common import actor
from submissions.views.scores import explained
from submissions.views.submitting import confirm_page, order_for


@require_POST
@member_page
@strong_page
@delivers("quota")
def start(request: HttpRequest, upload: UUID) -> HttpResponse:
    """Run an uploaded bundle on the public tasks only; the confirm step with the reason where that is refused."""
    order = order_for(request, upload)
    if order is None:
        return redirect("submissions:new_submission")
    form = ConfirmForm(request.POST)
    if not form.is_valid():
        return confirm_page(request, order, form, status=422)
    try:
        receipt = services.start_preflight(order, by=actor(request), key=form.cleaned_data["key"])
    except Refused as refused:
        return confirm_page(request, order, form, refusal=refused.refusal)
    note_network(order.organisation, address_of(request))
    return redirect("submissions:preflight", receipt.submission_id)


@require_safe
@member_page
@delivers("preflight", "submission")
def preflight(request: HttpRequest, submission: UUID) -> HttpResponse:
    """How the harness did on the public tasks, run by run; for a preflight on its own, how it stands as well."""
    found = queries.one_of_any_scope(membership_in(request).organisation, submission)
    report = queries.preflight_report(found)
    hand_out(request, "preflight", found.id, asdict(report), by=actor(request))
    context: dict[str, Any] = {
        "submission": found,
        "report": report,
        "runs": [_run_facts(run) for run in report.runs],
    }
    if found.is_preflight:
        face = preflight_face(found)
        show_status(request, "submission", ("submission", found.id), face, by=actor(request))
        context |= _alone(found)
    return render(request, "submissions/preflight.html", context)


def _alone(found: Submission) -> dict[str, Any]:
    """What the page says of a preflight on its own: there is no submission's page beside it."""
    terms = queries.terms_at(found.task_set)
    return {
        "queue": queue_of(found),
        "outcome": queries.outcome(found),
        "moments": queries.timeline(found),
        "ended": found.state in ENDS,
        "counts": found.state != Submission.State.VOIDED,
        "preflights": terms.preflight if terms else None,
        "if_cancelled": queries.if_cancelled(found),
        "keeping": keeping_of(found),
    }


@require_safe
@member_page
@delivers("preflight")
def preflight_run(request: HttpRequest, submission: UUID, task: str, index: int) -> HttpResponse:
    """Everything about one run of one public task: score by rule, output, errors, reply."""
    found = queries.one_of_any_scope(membership_in(request).organisation, submission)
    report = queries.preflight_report(found)
    run = next((row for row in report.runs if row.task == task and row.run_index == index), None)
    if run is None:
        raise Http404
    hand_out(request, "preflight", found.id, asdict(run), by=actor(request))
    return render(
        request,
        "submissions/preflight_run.html",
        {"submission": found, **_run_facts(run), "why": explained(run)},
    )


def _run_facts(run: PreflightRun) -> dict[str, Any]:
    chinese = (get_language() or "").startswith("zh")
    return {
        "run": run,
        "title": run.title_zh if chinese else run.title_en,
        "domain": Domain(run.domain).label,
    }
