"""Staff pages about accounts that may belong together: signals, joint usage, and the two people's decision."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST, require_safe

from accounts.duties import queries as duties
from accounts.duties.refusals import DutyRefused
from accounts.linking import parting, services
from accounts.linking import queries as linking
from accounts.linking.models import LinkCase
from accounts.linking.refusals import LinkRefused
from accounts.services import actor_for
from accounts.views import signed_in
from audit.events import Actor
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
    "template": gettext_lazy("one template answer for many tasks"),
    "artefacts": gettext_lazy("answers alike to the byte on many tasks"),
    "tokens": gettext_lazy("costs that rise and fall together, task by task"),
    "review": gettext_lazy("a review of alarms by a governor"),
}
REFUSED = 409


class PartingForm(forms.Form):
    """Why a link is to be undone."""

    reason = forms.CharField(
        label=gettext_lazy("Reason"),
        max_length=2000,
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text=gettext_lazy("For the second person; the log holds a salted hash of it."),
    )


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
    found = _found(request, which)
    return _shown(request, found, _form(found))


@require_POST
@reviewer_page
@delivers("link")
def act(request: HttpRequest, which: UUID, act: str) -> HttpResponse:
    """Propose, confirm or send back: first the decision, and where it linked the two, that it be undone."""
    found = _found(request, which)
    form, by = _form(found, request.POST), actor_for(signed_in(request), channel="web")
    if act == "propose" and not form.is_valid():
        return _shown(request, found, form, 422)
    acts: dict[str, Callable[[], None]] = {
        "propose": lambda: _propose(found, form, by),
        "confirm": lambda: (joining.part if _is_parting(found) else joining.decide)(found, by=by),
        "return": lambda: (parting.send_back if _is_parting(found) else services.send_back)(found, by=by),
    }
    if act not in acts:
        raise Http404
    try:
        acts[act]()
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


def _is_parting(found: LinkCase) -> bool:
    return found.state == LinkCase.State.PARTING


def _form(found: LinkCase, sent: QueryDict | None = None) -> forms.Form:
    return PartingForm(sent) if found.state == LinkCase.State.LINKED else ProposalForm(sent)


def _propose(found: LinkCase, form: forms.Form, by: Actor) -> None:
    facts = form.cleaned_data
    if isinstance(form, PartingForm):
        parting.propose(found, reason=facts["reason"], by=by)
    else:
        services.propose(found, verdict=facts["verdict"], reason=facts["reason"], by=by)


def _signals(found: LinkCase) -> list[str]:
    return [str(SIGNALS.get(kind, kind)) for kind in sorted({kind for kind, _mark in found.signals})]


def _shown(request: HttpRequest, found: LinkCase, form: forms.Form, status: int = 200) -> HttpResponse:
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
