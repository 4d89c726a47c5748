"""Staff: owners who are to be told of a third party's submission, and their objections."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django import forms
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts import services as accounts
from accounts.access import staff_page
from accounts.duties.queries import duties_of
from accounts.duties.refusals import DutyRefused
from accounts.duties.table import Duty
from accounts.views import signed_in
from submissions.models import Submission
from submissions.problems import Refused
from submissions.relations import services
from submissions.relations.queries import notices_for_staff, publishable_from
from submissions.views.common import refused_page

LIST = "console/owners.html"


class ObjectionForm(forms.Form):
    objection = forms.CharField(
        label=gettext_lazy("What the owner says"),
        max_length=services.LONGEST_STATEMENT,
        widget=forms.Textarea(attrs={"rows": 5}),
    )


@require_safe
@staff_page
def owner_list(request: HttpRequest) -> HttpResponse:
    return render(request, LIST, _context(request))


@require_POST
@staff_page
def order(request: HttpRequest, submission: UUID) -> HttpResponse:
    if not Submission.objects.filter(pk=submission).exists():
        raise Http404
    try:
        services.order_notice(submission, by=_by(request))
    except DutyRefused as refused:
        return render(request, LIST, _context(request) | {"complaint": str(refused)}, status=409)
    except Refused as refused:
        return refused_page(request, LIST, _context(request), refused.refusal)
    return redirect("console:owners")


@require_http_methods(["GET", "HEAD", "POST"])
@staff_page
def objection(request: HttpRequest, submission: UUID) -> HttpResponse:
    row = Submission.objects.filter(pk=submission, owner_notice__isnull=False).first()
    if row is None:
        raise Http404
    form = ObjectionForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            services.record_objection(row.owner_notice.id, form.cleaned_data["objection"], by=_by(request))
        except DutyRefused as refused:
            form.add_error(None, str(refused))
        except Refused as refused:
            form.add_error(None, refused.refusal.detail)
        else:
            return redirect("console:owners")
    status = 409 if form.errors else 200
    return render(request, "console/owner_objection.html", {"form": form, "row": row}, status=status)


def _by(request: HttpRequest) -> Any:
    return accounts.actor_for(signed_in(request), channel="web")


def _context(request: HttpRequest) -> dict[str, Any]:
    """Names and addresses are shown to identity reviewers only."""
    may = Duty.IDENTITY_REVIEWER in duties_of(signed_in(request))
    rows = []
    for row in notices_for_staff() if may else ():
        owner = getattr(row.harness_version.harness, "owner", None)
        rows.append(
            {
                "submission": row,
                "owner": services.owner_of(owner) if owner else None,
                "notice": getattr(row, "owner_notice", None),
                "gate": publishable_from(row),
            }
        )
    return {"rows": rows, "may": may}
