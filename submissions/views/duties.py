"""The access review: who holds which duty until when, what is due, and giving and taking duties."""

from __future__ import annotations

from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods, require_safe

from accounts import services as accounts
from accounts.access import staff_page
from accounts.duties import queries, services
from accounts.duties.forms import ProposalForm, ReasonForm
from accounts.duties.refusals import DutyRefused
from accounts.duties.smallest import smallest_staff
from accounts.duties.table import DUTIES, Duty
from accounts.views import signed_in

ACTS = {
    "confirm": (services.confirm, gettext_lazy("The duty is confirmed.")),
    "review": (services.review, gettext_lazy("The duty is reviewed.")),
    "end": (services.end, gettext_lazy("The duty is ended.")),
}
"""What an administrator does with a duty, and what is said afterwards."""
REFUSED = 409


@require_safe
@staff_page
def review(request: HttpRequest) -> HttpResponse:
    """Duties with their dates, those first that wait for somebody; and who could take each decision today."""
    context = {
        "begun": queries.has_begun(),
        "is_administrator": Duty.ADMINISTRATOR in queries.duties_of(signed_in(request)),
        "rows": queries.lines(),
        "over": queries.lines(over=True),
        "decisions": queries.decisions_now(),
        "smallest": len(smallest_staff()),
    }
    return render(request, "console/duties.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@staff_page
def propose(request: HttpRequest) -> HttpResponse:
    """Propose a duty for somebody; another administrator confirms it."""
    form, status = ProposalForm(request.POST or None), 200
    if request.method == "POST" and form.is_valid():
        by = accounts.actor_for(signed_in(request), channel="web")
        try:
            services.propose(**form.facts(), by=by)
        except DutyRefused as refused:
            status = _refuse(form, refused)
        else:
            messages.success(request, _("The duty is proposed. Another administrator confirms it."))
            return redirect("console:duties")
    works = [(DUTIES[duty].name, DUTIES[duty].work) for duty in Duty]
    return render(request, "console/duty_new.html", {"form": form, "works": works}, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
@staff_page
def act(request: HttpRequest, duty: UUID, act: str) -> HttpResponse:
    """A page of its own that says what confirming, reviewing or ending does, and does it for a reason."""
    row = queries.assignment(duty)
    if row is None or act not in ACTS:
        raise Http404
    form, status = ReasonForm(request.POST or None), 200
    if request.method == "POST" and form.is_valid():
        done, said = ACTS[act]
        by = accounts.actor_for(signed_in(request), channel="web")
        try:
            done(row, reason=form.cleaned_data["reason"], by=by)
        except DutyRefused as refused:
            status = _refuse(form, refused)
        else:
            messages.success(request, str(said))
            return redirect("console:duties")
    context = {"form": form, "row": row, "act": act, "name": DUTIES[row.kind].name}
    return render(request, "console/duty_act.html", context, status=status)


def _refuse(form: forms.Form, refused: DutyRefused) -> int:
    """Put sentence and code above the form; the status of the answer."""
    form.add_error(None, str(refused))
    return REFUSED
