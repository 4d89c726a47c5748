"""Staff pages of rotation: the queue, one entry with its decision, a plan with what it changes, the reserve.

A task is named only to who asks for it on an entry's page, which is an event of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST, require_safe

from accounts.access import deciding_page
from accounts.duties.policies import takes_part
from accounts.duties.queries import duties_of
from accounts.duties.refusals import DutyRefused
from accounts.duties.table import DECISIONS, Decision, Duty
from accounts.services import actor_for
from accounts.views import signed_in
from audit.events import Actor
from benchmark.queries import open_versions
from governance.rotation import queries, services
from governance.rotation.models import RotationEntry, RotationPlan
from governance.rotation.policies import Verdict, decision_of
from submissions.delivery import delivers, hand_out
from submissions.problems import Refused

REFUSED = 422
for_deciders = deciding_page(Decision.RETIREMENT)
for_governors = deciding_page(Decision.ROTATION)


class ReasonForm(forms.Form):
    """Why a plan is put forward."""

    reason = forms.CharField(
        label=gettext_lazy("Reason"),
        max_length=2000,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=gettext_lazy("For the second person; the log holds a salted hash of it."),
    )


class DecisionForm(ReasonForm):
    """What is proposed for one task."""

    verdict = forms.ChoiceField(
        label=gettext_lazy("Proposal"),
        choices=RotationEntry.Verdict.choices,
        widget=forms.RadioSelect,
        help_text=gettext_lazy(
            "Keep watching: it waits here again later. Rotate: it leaves with the next version. Retire: it leaves "
            "for good, and the public list names it then. False alarm: the entry is over. Another person confirms."
        ),
    )
    ground = forms.ChoiceField(
        label=gettext_lazy("Ground of a retirement"),
        choices=[("", "–"), *RotationEntry.Ground.choices],
        required=False,
        help_text=gettext_lazy("The public retirement list says it, once the task is held out nowhere."),
    )
    field_order = ("verdict", "ground", "reason")


@require_safe
@for_deciders
def queue(request: HttpRequest) -> HttpResponse:
    """What waits for somebody, the plans, and what is over. No task is named."""
    context = {
        "rows": queries.open_entries(),
        "plans": queries.plans(),
        "ended": queries.ended_entries(),
    }
    return render(request, "rotation/queue.html", context)


@require_safe
@for_deciders
@delivers("rotation")
def entry(request: HttpRequest, which: UUID) -> HttpResponse:
    return _entry_page(request, _entry(which), DecisionForm())


@require_POST
@for_governors
@delivers("held_out")
def reveal(request: HttpRequest, which: UUID) -> HttpResponse:
    """Name the task, to a governor who asked; recorded before the page is sent."""
    row = _entry(which)
    hand_out(request, "held_out", row.id, row.task.slug, by=_by(request))
    return render(request, "rotation/task.html", {"row": row})


@require_POST
@for_deciders
@delivers("rotation")
def act(request: HttpRequest, which: UUID, act: str) -> HttpResponse:
    """Propose, confirm or send back."""
    row, by = _entry(which), _by(request)
    form = DecisionForm(request.POST)
    if act == "suggest" and not form.is_valid():
        return _entry_page(request, row, form, REFUSED)
    acts: dict[str, Callable[[], Any]] = {
        "suggest": lambda: services.suggest(row.id, **form.cleaned_data, by=by),
        "confirm": lambda: services.confirm(row.id, by=by),
        "return": lambda: services.send_back(row.id, by=by),
    }
    _carried_out(request, acts, act)
    return redirect("rotating:entry", which)


@require_safe
@for_governors
@delivers("rotation_plan")
def plan(request: HttpRequest, which: UUID) -> HttpResponse:
    return _plan_page(request, _plan(which), ReasonForm())


@require_POST
@for_governors
@delivers("rotation_plan")
def plan_act(request: HttpRequest, which: UUID, act: str) -> HttpResponse:
    """Put a plan forward, approve it, send it back or discard it."""
    from governance.rotation import planning  # loads numerical libraries, which no other page needs

    row, by = _plan(which), _by(request)
    form = ReasonForm(request.POST)
    if act == "submit" and not form.is_valid():
        return _plan_page(request, row, form, REFUSED)
    acts: dict[str, Callable[[], Any]] = {
        "submit": lambda: planning.submit(row.id, reason=form.cleaned_data["reason"], by=by),
        "approve": lambda: planning.approve(row.id, by=by),
        "return": lambda: planning.send_back(row.id, by=by),
        "discard": lambda: planning.discard(row.id, by=by),
    }
    _carried_out(request, acts, act)
    return redirect("rotating:plan", which)


@require_safe
@for_deciders
def stock(request: HttpRequest) -> HttpResponse:
    """The reserve by stratum, for each version that is open."""
    versions = [(version, queries.stock(version)) for version in open_versions()]
    return render(request, "rotation/stock.html", {"versions": versions})


def _carried_out(request: HttpRequest, acts: dict[str, Callable[[], Any]], act: str) -> None:
    if act not in acts:
        raise Http404
    try:
        acts[act]()
    except DutyRefused as refused:
        messages.error(request, str(refused))
    except Refused as refused:
        messages.error(request, f"{refused.refusal.detail} {refused.refusal.remedy} [{refused.refusal.code}]")
    else:
        messages.success(request, _("It is on record."))


def _entry_page(
    request: HttpRequest, row: RotationEntry, form: forms.Form, status: int = 200
) -> HttpResponse:
    hand_out(request, "rotation", row.id, [row.state, row.cause, row.evidence, row.verdict], by=_by(request))
    evidence = [(words, row.evidence[name]) for name, words in EVIDENCE.items() if name in row.evidence]
    person = signed_in(request)
    context = {
        "row": row,
        "form": form,
        "evidence": evidence,
        "score": f"{row.score:.2f}",
        "is_own": row.proposed_by == person,
        "may_confirm": row.proposed_by != person and _may_confirm(row, duties_of(person)),
        "may_reveal": takes_part(duties_of(person), Decision.ROTATION),
    }
    return render(request, "rotation/entry.html", context, status=status)


def _may_confirm(row: RotationEntry, duties: frozenset[Duty]) -> bool:
    """By duty; that nobody decides about what is their own is asked when it is confirmed."""
    return bool(row.verdict) and bool(duties & DECISIONS[decision_of(Verdict(row.verdict))].approvers)


EVIDENCE = {
    "every": gettext_lazy("Bits by all causes"),
    "gate": gettext_lazy("Bits by changes that metadata does not explain"),
    "organisations": gettext_lazy("Organisations whose endpoints read it"),
    "drift": gettext_lazy("Drift of its pass rate, as a share of the alarm level"),
}


def _plan_page(request: HttpRequest, row: RotationPlan, form: forms.Form, status: int = 200) -> HttpResponse:
    hand_out(request, "rotation_plan", row.id, [row.state, row.lines_digest, row.checks], by=_by(request))
    checks = row.checks
    worst = sorted(checks.get("differences", {}).items(), key=lambda pair: -abs(pair[1]))[:3]
    context = {
        "row": row,
        "form": form,
        "changes": queries.changes(row) if row.lines_digest else [],
        "worst": [(name, f"{value:+.3f}") for name, value in worst],
        "area": [f"{value:.3f}" for value in checks.get("area", [])],
        "shifts": [(name, f"{points:+.2f}") for name, points in checks.get("shifts", {}).items()],
        "failed": checks.get("failed", []),
        "is_own": row.proposed_by == signed_in(request),
    }
    return render(request, "rotation/plan.html", context, status=status)


def _entry(which: UUID) -> RotationEntry:
    row = queries.entry(which)
    if row is None:
        raise Http404
    return row


def _plan(which: UUID) -> RotationPlan:
    row = queries.plan(which)
    if row is None:
        raise Http404
    return row


def _by(request: HttpRequest) -> Actor:
    return actor_for(signed_in(request), channel="web")
