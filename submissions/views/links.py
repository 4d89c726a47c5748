"""Staff pages about accounts that may belong together: signals, joint usage, and the two people's decision."""

from __future__ import annotations

from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST, require_safe

from accounts.duties import queries as duties
from accounts.duties.refusals import DutyRefused
from accounts.linking import queries as linking
from accounts.linking import services
from accounts.linking.models import LinkCase
from accounts.linking.refusals import LinkRefused
from accounts.services import actor_for
from accounts.views import signed_in
from submissions.delivery import delivers, hand_out
from submissions.linking import queries
from submissions.linking import services as joining
from submissions.views.registration import reviewer_page

SIGNALS = {
    "name": gettext_lazy("the same legal name"),
    "number": gettext_lazy("the same registration number"),
    "domain": gettext_lazy("the same domain"),
    "network": gettext_lazy("submissions from the same network"),
    "package": gettext_lazy("an identical package"),
    "card": gettext_lazy("near-identical HarnessCards"),
}
REFUSED = 409


class ProposalForm(forms.Form):
    """What a reviewer proposes about a case."""

    verdict = forms.ChoiceField(
        label=gettext_lazy("Proposal"), choices=LinkCase.Verdict.choices, widget=forms.RadioSelect
    )
    reason = forms.CharField(
        label=gettext_lazy("Reason"),
        max_length=2000,
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text=gettext_lazy("For the second person; the log holds a salted hash of it."),
    )


@require_safe
@reviewer_page
def cases(request: HttpRequest) -> HttpResponse:
    """Cases that wait, then decided ones; none of the reader's own organisation."""
    own = duties.standing_of(signed_in(request)).lineages
    rows = [
        {"case": case, "parties": linking.parties(case), "signals": _signals(case)}
        for case in linking.cases()
        if not own & linking.lineages_now(case)
    ]
    return render(request, "console/links.html", {"rows": rows})


@require_safe
@reviewer_page
@delivers("link")
def case(request: HttpRequest, which: UUID) -> HttpResponse:
    return _shown(request, _found(request, which), ProposalForm())


@require_POST
@reviewer_page
@delivers("link")
def act(request: HttpRequest, which: UUID, act: str) -> HttpResponse:
    """Propose, confirm or send back."""
    found, form = _found(request, which), ProposalForm(request.POST if act == "propose" else None)
    by = actor_for(signed_in(request), channel="web")
    if act == "propose" and not form.is_valid():
        return _shown(request, found, form, 422)
    try:
        if act == "propose":
            services.propose(found, **form.cleaned_data, by=by)
        elif act == "confirm":
            joining.decide(found, by=by)
        elif act == "return":
            services.send_back(found, by=by)
        else:
            raise Http404
    except (DutyRefused, LinkRefused) as refused:
        messages.error(request, str(refused))
    else:
        messages.success(request, _("It is on record."))
    return redirect("console:link", which)


def _found(request: HttpRequest, which: UUID) -> LinkCase:
    found = linking.case(which)
    if found is None or duties.standing_of(signed_in(request)).lineages & linking.lineages_now(found):
        raise Http404
    return found


def _signals(found: LinkCase) -> list[str]:
    return [str(SIGNALS.get(kind, kind)) for kind in sorted({kind for kind, _mark in found.signals})]


def _shown(request: HttpRequest, found: LinkCase, form: ProposalForm, status: int = 200) -> HttpResponse:
    usage = queries.joint_usage(found)
    by = actor_for(signed_in(request), channel="web")
    face = [found.state, found.signals, [[row.task_set.label, row.together] for row in usage]]
    hand_out(request, "link", found.id, face, by=by)
    context = {
        "case": found,
        "parties": linking.parties(found),
        "signals": _signals(found),
        "usage": usage,
        "form": form,
    }
    return render(request, "console/link.html", context, status=status)
