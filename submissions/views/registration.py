"""Staff pages about registrations: what waits, the data behind it, and the two people's decision.

Only identity reviewers open one; each opening, and each file of evidence, is an event before the body is sent.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from accounts.access import staff_page
from accounts.duties import queries as duties
from accounts.duties.refusals import DutyRefused
from accounts.models import Registration
from accounts.registration import policies, queries, review
from accounts.registration.forms import ProposalForm
from accounts.registration.refusals import RegistrationRefused
from accounts.services import actor_for
from accounts.views import signed_in
from config import clock, store, vault
from submissions.delivery import delivers, hand_out

View = Callable[..., HttpResponse]
REFUSED = 409


def reviewer_page(view: View) -> View:
    """For identity reviewers; for other staff there is no such page."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not policies.may_look(duties.standing_of(signed_in(request))):
            raise Http404
        return view(request, *args, **kwargs)

    return staff_page(guarded)


@require_safe
@staff_page
def organisations(request: HttpRequest) -> HttpResponse:
    """What waits for a decision, without what is registered."""
    context = {
        "rows": queries.waiting(),
        "others": queries.unregistered(),
        "may_look": policies.may_look(duties.standing_of(signed_in(request))),
    }
    return render(request, "console/organisations.html", context)


@require_safe
@reviewer_page
@delivers("registration")
def registration(request: HttpRequest, which: UUID) -> HttpResponse:
    return _shown(request, _found(which, request), ProposalForm())


@require_POST
@reviewer_page
@delivers("registration")
def act(request: HttpRequest, which: UUID, act: str) -> HttpResponse:
    """Propose, confirm or send back."""
    row, form = _found(which, request), ProposalForm(request.POST if act == "propose" else None)
    by = actor_for(signed_in(request), channel="web")
    try:
        if act == "propose":
            if not form.is_valid():
                return _shown(request, row, form, 422)
            review.propose(row, **form.cleaned_data, by=by)
        elif act == "confirm":
            review.confirm(row, by=by)
        elif act == "return":
            review.send_back(row, by=by)
        else:
            raise Http404
    except (DutyRefused, RegistrationRefused) as refused:
        if act == "propose":
            form.add_error(None, str(refused))
            return _shown(request, row, form, REFUSED)
        messages.error(request, str(refused))
    else:
        messages.success(request, _("It is on record."))
    return redirect("console:organisations")


@require_safe
@reviewer_page
@delivers("evidence")
def evidence(request: HttpRequest, which: UUID, number: int) -> HttpResponse:
    """One file, to be saved: nothing of it is opened by the browser within this site."""
    row = _found(which, request)
    found = next((each for each in queries.evidence_of(row) if each.number == number), None)
    if found is None:
        raise Http404
    try:
        data = review.evidence(found)
    except (vault.SealBroken, store.ObjectMissing):
        raise Http404 from None
    by = actor_for(signed_in(request), channel="web")
    hand_out(request, "evidence", row.id, found.sha256, by=by, precision=str(number))
    answer = HttpResponse(data, content_type="application/octet-stream")
    answer["Content-Disposition"] = f'attachment; filename="{found.filename}"'
    return answer


def _found(which: UUID, request: HttpRequest) -> Registration:
    """The registration; none of an organisation that the reviewer belongs to, or that is linked with one."""
    row = queries.registration(which)
    if row is None or row.organisation.lineage_id in duties.standing_of(signed_in(request)).lineages:
        raise Http404
    return row


def _shown(request: HttpRequest, row: Registration, form: ProposalForm, status: int = 200) -> HttpResponse:
    data = review.opened(row)
    by = actor_for(signed_in(request), channel="web")
    hand_out(request, "registration", row.id, data, by=by)
    context = {
        "row": row,
        "data": data,
        "evidence": queries.evidence_of(row),
        "form": form,
        "overdue": row.is_open and row.due_at <= clock.now(),
    }
    return render(request, "console/registration.html", context, status=status)
