"""Returns of uses in the console: proposed with a reason, approved by another governor, or withdrawn."""

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
from accounts.access import deciding_page
from accounts.duties.queries import duties_of
from accounts.duties.refusals import DutyRefused
from accounts.duties.table import Decision
from accounts.views import signed_in
from audit.events import Actor
from submissions.models import Submission
from submissions.problems import Refused
from submissions.returns import queries, services

ACTS = {
    "approve": (services.approve, gettext_lazy("The use is returned.")),
    "withdraw": (services.withdraw, gettext_lazy("The proposal is withdrawn.")),
}
REFUSED = 409
for_deciders = deciding_page(Decision.QUOTA_GRANT)


class ReturnForm(forms.Form):
    """What may be entered; whether it is allowed is for the services."""

    submission = forms.UUIDField(label=gettext_lazy("Submission id"))
    reason = forms.CharField(
        label=gettext_lazy("Reason"),
        max_length=500,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=gettext_lazy("The vendor reads these words. Name no person in them."),
    )

    def clean_submission(self) -> UUID:
        found: UUID = self.cleaned_data["submission"]
        if not Submission.objects.filter(pk=found).exists():
            raise forms.ValidationError(_("There is no such submission."), code="unknown")
        return found


@require_safe
@for_deciders
def returns(request: HttpRequest) -> HttpResponse:
    """What waits for somebody first, then what was decided."""
    duties = duties_of(signed_in(request))
    context = {
        "rows": queries.returns_for_staff(),
        "may_propose": bool(duties & services.RULE.proposers),
        "may_approve": bool(duties & services.RULE.approvers),
    }
    return render(request, "console/returns.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@for_deciders
def propose(request: HttpRequest) -> HttpResponse:
    form, status = ReturnForm(request.POST or None), 200
    if request.method == "POST" and form.is_valid():
        facts = form.cleaned_data
        try:
            services.propose(facts["submission"], reason=facts["reason"], by=_by(request))
        except (DutyRefused, Refused) as refused:
            form.add_error(None, _words(refused))
            status = REFUSED
        else:
            messages.success(request, _("The return is proposed. Another governor approves it."))
            return redirect("console:returns")
    return render(request, "console/return_new.html", {"form": form}, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
@for_deciders
def act(request: HttpRequest, which: UUID, act: str) -> HttpResponse:
    """A page of its own that says what approving or withdrawing does, and does it."""
    row = queries.use_return(which)
    if row is None or act not in ACTS:
        raise Http404
    refusal, status = "", 200
    if request.method == "POST":
        done, said = ACTS[act]
        try:
            done(row.id, by=_by(request))
        except (DutyRefused, Refused) as refused:
            refusal, status = _words(refused), REFUSED
        else:
            messages.success(request, str(said))
            return redirect("console:returns")
    return render(
        request, "console/return_act.html", {"row": row, "act": act, "refusal": refusal}, status=status
    )


def _by(request: HttpRequest) -> Actor:
    return accounts.actor_for(signed_in(request), channel="web")


def _words(refused: DutyRefused | Refused) -> str:
    if isinstance(refused, DutyRefused):
        return str(refused)
    return f"{refused.refusal.detail} [{refused.refusal.code}]"
