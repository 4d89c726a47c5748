"""Submissions as their organisation sees them: list, timeline, cancel, the blind choice, consent, receipt."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.access import member_page
from accounts.views import membership_in
from submissions import queries, services
from submissions.confidentiality.queries import keeping_of
from submissions.delivery import delivers, show_status
from submissions.faces import face_of, list_face, submission_face
from submissions.models import Submission
from submissions.policies.states import ENDS
from submissions.problems import Refusal, Refused
from submissions.queries import Moment
from submissions.queueing.queries import queue_of
from submissions.receipts import hand_out_receipt, receipt_file, receipt_of
from submissions.reruns.queries import open_offers
from submissions.views.common import actor, refused_page

PATH = ("created", "checking", "preflight", "queued", "running", "grading", "complete")
BESIDE = ("paused", "awaiting_choice", "held")


@dataclass(frozen=True)
class Step:
    """One line of the timeline. `look` is done, now, open or failed; `state` is set where a badge is the title."""

    look: str
    icon: str
    title: str
    note: str
    at: datetime | None
    state: str = ""


def _titles() -> dict[str, tuple[str, str]]:
    return {
        "created": (_("Received"), ""),
        "checking": (_("Package check"), _("manifest, contents, digest")),
        "preflight": (_("Preflight"), _("all public tasks, with full logs")),
        "queued": (_("Queue and canary"), _("one public task on the path of the held-out ones")),
        "running": (_("Held-out tasks"), ""),
        "grading": (_("Grading"), ""),
        "complete": (_("Release"), _("all domains together, on a release tick")),
    }


def steps(submission: Submission, moments: list[Moment]) -> list[Step]:
    """The path of a submission with how far it came; where it waits or ended stands right after that."""
    state = submission.state
    reached = {moment.state: moment.at for moment in reversed(moments) if moment.state in PATH}
    last = max((PATH.index(name) for name in reached), default=0)
    off_the_path = state not in PATH
    ended = state in ENDS
    found = []
    for at, name in enumerate(PATH):
        title, note = _titles()[name]
        if name == "running" and submission.held_out_run_id:
            note = _("%(percent)s %% of the whole") % {"percent": queries.progress(submission)}
        look, icon = _look(at, last, off_the_path=off_the_path, ended=ended)
        found.append(Step(look, icon, title, note, reached.get(name)))
        if at == last and off_the_path:
            marks = ("failed", "stop") if ended else ("now", "pause")
            found.append(Step(*marks, "", "", submission.state_since, state))
            if ended:
                break
    return found


def _look(at: int, last: int, *, off_the_path: bool, ended: bool) -> tuple[str, str]:
    """(look, icon) of the step at `at`, where `last` was reached last."""
    if at > last:
        return "open", "ring"
    if at < last or (ended and not off_the_path):
        return "done", "check"
    if off_the_path:
        return ("failed", "cross") if ended else ("done", "half")
    return "now", "half"


@require_safe
@member_page
@delivers("submission")
def submission_list(request: HttpRequest) -> HttpResponse:
    organisation = membership_in(request).organisation
    before = _uuid(request.GET.get("before", ""))
    rows = queries.of_any_scope(organisation, before=before)
    offers = [] if before else open_offers(organisation)
    face = [*list_face(rows), *([row.id, row.expires_at] for row in offers)]
    show_status(request, "submission", ("organisation", organisation.id), face, by=actor(request))
    more = rows[-1].id if len(rows) == queries.submissions.PAGE else None
    context = {"submissions": rows, "more": more, "offers": offers}
    return render(request, "submissions/submissions.html", context)


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


@require_safe
@member_page
@delivers("submission")
def submission(request: HttpRequest, submission: UUID) -> HttpResponse:
    found = queries.one_of_any_scope(membership_in(request).organisation, submission)
    if found.is_preflight:
        return redirect("submissions:preflight", found.id)
    face = submission_face(found)
    show_status(request, "submission", ("submission", found.id), face, by=actor(request))
    return render(request, "submissions/submission.html", page_of(found))


def page_of(submission: Submission) -> dict[str, Any]:
    """Everything the submission's page shows."""
    moments = queries.timeline(submission)
    state = submission.state
    terms = queries.terms_at(submission.task_set)
    return {
        "submission": submission,
        "preflights": terms.preflight if terms else None,
        "counts_as_preflight": state in ENDS and state != Submission.State.VOIDED,
        "queue": queue_of(submission),
        "steps": steps(submission, moments),
        "moments": moments,
        "charge": queries.charge(submission),
        "keeping": keeping_of(submission),
        "outcome": queries.outcome(submission),
        "ended_badly": state in ENDS and state not in ("complete", "incomplete"),
        "beside": state in BESIDE,
        "has_result": state in ("complete", "incomplete"),
        "rerunning": submission.rerun_since is not None and state == "running",
    }


@require_http_methods(["GET", "HEAD", "POST"])
@member_page
@delivers("submission")
def cancel(request: HttpRequest, submission: UUID) -> HttpResponse:
    """A page of its own that says what cancelling does, and does it."""
    found = queries.one_of_any_scope(membership_in(request).organisation, submission)
    context = {"submission": found, "if_cancelled": queries.if_cancelled(found)}
    show_status(request, "submission", ("submission", found.id), face_of(found), by=actor(request))
    if request.method == "POST":
        try:
            services.cancel(found.id, by=actor(request))
        except Refused as refused:
            return refused_page(request, "submissions/cancel.html", context, refused.refusal)
        done = _("The preflight is cancelled.") if found.is_preflight else _("The submission is cancelled.")
        messages.success(request, done)
        return redirect("submissions:submission", found.id)
    return render(request, "submissions/cancel.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@member_page
@delivers("submission")
def choice(request: HttpRequest, submission: UUID) -> HttpResponse:
    """Keep or void, before any number is shown."""
    found = queries.submission_of(membership_in(request).organisation, submission)
    context = {"submission": found, "charge": queries.charge(found), "outcome": queries.outcome(found)}
    face = submission_face(found)
    show_status(request, "submission", ("submission", found.id), face, by=actor(request))
    if request.method != "POST":
        return render(request, "submissions/choice.html", context)
    chosen = request.POST.get("choice", "")
    if chosen not in ("keep", "void"):
        return render(request, "submissions/choice.html", {**context, "nothing_chosen": True}, status=422)
    try:
        services.choose(found.id, chosen, by=actor(request))
    except Refused as refused:
        return refused_page(request, "submissions/choice.html", context, refused.refusal)
    return redirect("submissions:submission", found.id)


@require_POST
@member_page
@delivers("submission")
def consent(request: HttpRequest, submission: UUID) -> HttpResponse:
    """Give or withdraw the consent to publish."""
    found = queries.submission_of(membership_in(request).organisation, submission)
    word = "given" if request.POST.get("consent") == "given" else "withdrawn"
    try:
        services.set_publication_consent(found.id, consent=word, by=actor(request))
    except Refused as refused:
        return _refused_here(request, found, refused.refusal)
    return redirect("submissions:submission", found.id)


def _refused_here(request: HttpRequest, submission: Submission, refusal: Refusal) -> HttpResponse:
    """The submission's page with a refusal above it: its state is shown there too, so that is recorded."""
    face = submission_face(submission)
    show_status(request, "submission", ("submission", submission.id), face, by=actor(request))
    return refused_page(request, "submissions/submission.html", page_of(submission), refusal)


@require_safe
@member_page
@delivers("receipt", "submission")
def receipt(request: HttpRequest, submission: UUID) -> HttpResponse:
    """The receipt as a file; the submission's page with the reason where it is not ready yet."""
    found = queries.submission_of(membership_in(request).organisation, submission)
    try:
        given = receipt_of(found)
    except Refused as refused:
        return _refused_here(request, found, refused.refusal)
    hand_out_receipt(request, given, by=actor(request))
    return receipt_file(given)
