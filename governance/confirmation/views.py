"""The vendor's page of a confirmation run: ask for it with the consent to publish, see how it stands, withdraw it."""

from __future__ import annotations

import uuid
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from accounts.access import member_page
from accounts.views import membership_in
from governance.confirmation import published, queries, services, words
from submissions.delivery import delivers, show_status
from submissions.models import Submission
from submissions.problems import Refused
from submissions.queries import NotVisible, submission_of
from submissions.views.common import actor, refused_page

TEMPLATE = "governance/confirmation.html"


@require_http_methods(["GET", "HEAD", "POST"])
@member_page
@delivers("submission")
def confirmation(request: HttpRequest, submission: UUID) -> HttpResponse:
    """What a confirmation run is and costs, with the form that asks for it; or how the one that there is stands."""
    found = submission_of(membership_in(request).organisation, submission)
    context = _page(request, found)
    if request.method != "POST":
        return render(request, TEMPLATE, context)
    try:
        services.request(
            found,
            consent=request.POST.get("publication_consent") == "given",
            by=actor(request),
            key=request.POST.get("key", ""),
        )
    except Refused as refused:
        return refused_page(request, TEMPLATE, context, refused.refusal)
    return redirect("governance:confirmation", found.id)


@require_POST
@member_page
@delivers("submission")
def withdraw(request: HttpRequest, submission: UUID) -> HttpResponse:
    """Withdraw it, and the consent with it."""
    found = submission_of(membership_in(request).organisation, submission)
    try:
        services.withdraw(queries.confirmation_of(found).id, by=actor(request))
    except Refused as refused:
        return refused_page(request, TEMPLATE, _page(request, found), refused.refusal)
    return redirect("governance:confirmation", found.id)


def _page(request: HttpRequest, submission: Submission) -> dict[str, Any]:
    try:
        row = queries.confirmation_of(submission)
    except NotVisible:
        row = None
    face = published.face(row) if row else {}
    show_status(request, "submission", ("submission", submission.id), face, by=actor(request))
    refusal = queries.refusal(submission, consent=True, by=actor(request))
    return {
        "submission": submission,
        "row": row,
        "why": words.CAUSES.get(row.cause, "") if row else "",
        "may_withdraw": bool(row) and face["may_withdraw"],
        "deadline": queries.deadline_of(row) if row else None,
        "refusal": refusal,
        "key": uuid.uuid4().hex,
    }
