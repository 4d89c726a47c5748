"""Staff: openings of packages, proposed by one and approved by another, read while they are open, ended."""

from __future__ import annotations

import tempfile
from typing import Any, cast
from uuid import UUID

from django import forms
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts import services as accounts
from accounts.access import deciding_page
from accounts.duties.refusals import DutyRefused
from accounts.duties.table import Decision
from accounts.views import signed_in
from submissions.confidentiality import queries, services
from submissions.confidentiality.models import LONGEST_HOURS
from submissions.models import Submission
from submissions.problems import Refused

IN_MEMORY = 8 * 1024 * 1024
REFUSED = 409
for_deciders = deciding_page(Decision.UNBLINDING)


class OpeningForm(forms.Form):
    submission = forms.UUIDField(label=gettext_lazy("Submission id"))
    hours = forms.IntegerField(label=gettext_lazy("Hours"), min_value=1, max_value=LONGEST_HOURS, initial=24)
    reason = forms.CharField(
        label=gettext_lazy("Reason, with the case"), max_length=2000, widget=forms.Textarea(attrs={"rows": 4})
    )


@require_safe
@for_deciders
def opening_list(request: HttpRequest) -> HttpResponse:
    return render(request, "console/packages.html", {"rows": queries.openings()})


@require_http_methods(["GET", "HEAD", "POST"])
@for_deciders
def propose(request: HttpRequest) -> HttpResponse:
    form, status = OpeningForm(request.POST or None), 200
    if request.method == "POST" and form.is_valid():
        facts = form.cleaned_data
        if not Submission.of_any_scope.filter(pk=facts["submission"]).exists():
            raise Http404
        try:
            services.propose(
                facts["submission"], hours=facts["hours"], reason=facts["reason"], by=_by(request)
            )
        except (DutyRefused, Refused) as refused:
            status = _complain(form, refused)
        else:
            return redirect("console:packages")
    return render(request, "console/package_new.html", {"form": form}, status=status)


@require_POST
@for_deciders
def act(request: HttpRequest, opening: UUID, act: str) -> HttpResponse:
    """Approve or end."""
    acts = {"approve": services.approve, "end": services.end}
    if act not in acts or queries.opening(opening) is None:
        raise Http404
    try:
        acts[act](opening, by=_by(request))
    except (DutyRefused, Refused) as refused:
        context = {"rows": queries.openings(), "complaint": _words(refused)}
        return render(request, "console/packages.html", context, status=REFUSED)
    return redirect("console:packages")


@require_POST
@for_deciders
def read(request: HttpRequest, opening: UUID) -> HttpResponse:
    """The package as it was uploaded; that it was read is on record before the first byte is sent."""
    row = queries.opening(opening)
    if row is None:
        raise Http404
    plain = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115 - the answer closes it
    try:
        services.read_package(row.id, plain, by=_by(request))  # type: ignore[arg-type]
    except (DutyRefused, Refused) as refused:
        plain.close()
        context = {"rows": queries.openings(), "complaint": _words(refused)}
        return render(request, "console/packages.html", context, status=REFUSED)
    plain.seek(0)
    name = f"{row.submission.package_digest[:12]}.tar.gz"
    answer: HttpResponseBase = FileResponse(
        plain, as_attachment=True, filename=name, content_type="application/gzip"
    )
    return cast("HttpResponse", answer)


def _by(request: HttpRequest) -> Any:
    return accounts.actor_for(signed_in(request), channel="web")


def _words(refused: DutyRefused | Refused) -> str:
    if isinstance(refused, DutyRefused):
        return str(refused)
    return f"{refused.refusal.detail} [{refused.refusal.code}]"


def _complain(form: forms.Form, refused: DutyRefused | Refused) -> int:
    form.add_error(None, _words(refused))
    return REFUSED
