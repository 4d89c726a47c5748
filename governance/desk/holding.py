"""Staff: one hold with everything decided about it, and what can be decided, each on a page of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods, require_safe

from accounts.access import deciding_page
from accounts.duties.refusals import DutyRefused
from accounts.duties.table import Decision
from accounts.services import actor_for
from accounts.views import signed_in
from audit.events import Actor
from governance.desk import queries, services
from governance.desk.forms import ReasonForm, VoidForm
from governance.desk.models import Hold
from governance.desk.rules import GROUNDS, RULES
from submissions.problems import Refused

REFUSED = 409
for_deciders = deciding_page(Decision.OPERATOR_CASE)


@dataclass(frozen=True)
class HoldAct:
    """What a page about a hold offers: heading, what follows, and how it is done."""

    title: Promise
    says: Promise
    form: type[forms.Form]
    do: Callable[[Hold, Mapping[str, Any], Actor], object]


ACTS: Mapping[str, HoldAct] = {
    "extend": HoldAct(
        _("Propose to extend this hold?"),
        _(
            "Once, to twenty working days in all. Another governor approves it before the deadline; the vendor is told."
            " The event hold.decision_proposed is written to the audit log."
        ),
        ReasonForm,
        lambda hold, facts, by: services.propose(hold.submission, "extend", reason=facts["reason"], by=by),
    ),
    "void": HoldAct(
        _("Propose to void what is held?"),
        _(
            "Another governor approves it before the deadline. No number is ever shown then, the use stays counted, "
            "and the vendor reads the ground. The event hold.decision_proposed is written to the audit log."
        ),
        VoidForm,
        lambda hold, facts, by: services.propose(
            hold.submission, "void", ground=facts["ground"], reason=facts["reason"], by=by
        ),
    ),
    "lift": HoldAct(
        _("Lift this hold as a false alarm?"),
        _(
            "The use is returned, the cooldown ends, and the result is released with the next tick. It cannot be "
            "undone. The event hold.ended is written to the audit log."
        ),
        ReasonForm,
        lambda hold, facts, by: services.lift_hold(hold.submission, reason=facts["reason"], by=by),
    ),
    "release": HoldAct(
        _("End this review now?"),
        _(
            "The result is released with the next tick; the alarm stands and the use stays counted. It cannot be "
            "undone. The event hold.ended is written to the audit log."
        ),
        ReasonForm,
        lambda hold, facts, by: services.release_early(hold.submission, reason=facts["reason"], by=by),
    ),
}
DECIDE = {"approve": services.approve, "withdraw": services.withdraw}


@require_safe
@for_deciders
def hold(request: HttpRequest, submission: UUID) -> HttpResponse:
    row = _hold(submission)
    rows = queries.decisions_of(row.submission)
    context = {
        "row": row,
        "rule": RULES[row.rule],
        "decisions": [(one, GROUNDS.get(one.ground)) for one in rows],
        "person": signed_in(request),
        "ground": GROUNDS.get(row.ground),
        "lasts": row.ended_at is None,
        "may_extend": row.state == Hold.State.ACTIVE,
    }
    return render(request, "console/hold.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@for_deciders
def act(request: HttpRequest, submission: UUID, act: str) -> HttpResponse:
    row = _hold(submission)
    if act not in ACTS:
        raise Http404
    page, status = ACTS[act], 200
    form = page.form(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            page.do(row, form.cleaned_data, by_of(request))
        except (DutyRefused, Refused) as refused:
            form.add_error(None, words(refused))
            status = REFUSED
        else:
            messages.success(request, str(_("It is on record.")))
            return redirect("signals:hold", row.submission_id)
    context = {"row": row, "page": page, "form": form}
    return render(request, "console/hold_act.html", context, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
@for_deciders
def decide(request: HttpRequest, which: UUID, act: str) -> HttpResponse:
    """Approve or withdraw what somebody proposed about a hold."""
    row = queries.decision(which)
    if row is None or act not in DECIDE:
        raise Http404
    refusal, status = "", 200
    if request.method == "POST":
        try:
            DECIDE[act](row.id, by=by_of(request))
        except (DutyRefused, Refused) as refused:
            refusal, status = words(refused), REFUSED
        else:
            messages.success(request, str(_("It is on record.")))
            return redirect("signals:hold", row.submission_id)
    context = {"row": row, "act": act, "refusal": refusal, "ground": GROUNDS.get(row.ground)}
    return render(request, "console/hold_decide.html", context, status=status)


def by_of(request: HttpRequest) -> Actor:
    return actor_for(signed_in(request), channel="web")


def words(refused: DutyRefused | Refused) -> str:
    if isinstance(refused, DutyRefused):
        return str(refused)
    return f"{refused.refusal.detail} [{refused.refusal.code}]"


def _hold(submission: UUID) -> Hold:
    found = queries.hold_by_id(submission)
    if found is None:
        raise Http404
    return found
