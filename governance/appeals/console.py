"""Staff pages of appeals: the inbox by deadline, one appeal with what can be done now, and the expert's part of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts import services as accounts
from accounts.access import deciding_page, duty_page
from accounts.duties.queries import duties_of
from accounts.duties.refusals import DutyRefused, Reason
from accounts.duties.table import DECISIONS, Decision, Duty
from accounts.models import User
from accounts.views import signed_in
from audit.events import Actor
from governance.appeals import conflicts, policies, queries, services, words
from governance.appeals.forms import DraftForm, PeopleForm, TextForm
from governance.appeals.models import Appeal, Draft, Handling
from governance.appeals.policies import State
from submissions.delivery import delivers, hand_out
from submissions.problems import Code, Refusal, Refused

RULE = DECISIONS[Decision.APPEAL]
CLOSED = frozenset({Code.APPEAL_OF_THE_VENDOR, Code.APPEAL_OF_A_COMPETITOR})
"""Conflicts for which not even the page is shown."""
DUTY_REFUSED = {Reason.OWN_CASE: 403, Reason.NOT_ENTITLED: 403}
for_deciders = deciding_page(Decision.APPEAL)
for_experts = duty_page(Duty.TASK_AUTHOR)

REASON = (gettext_lazy("Reason"), gettext_lazy("The vendor reads it. It names no task and no person."))
NOTES = (
    pgettext_lazy("case", "Evidence"),
    gettext_lazy("For those who rule on it; the vendor does not read it."),
)
REMARK = (gettext_lazy("Remark"), gettext_lazy("For whoever drafted it; the vendor does not read it."))
OPINION = (gettext_lazy("Opinion"), gettext_lazy("For those who rule on it; the vendor does not read it."))


@require_safe
@for_deciders
@delivers("appeal")
def appeals(request: HttpRequest) -> HttpResponse:
    """Open ones by deadline, then what ended lately."""
    rows = queries.for_staff()
    listed = [[str(row.id), row.state, row.escalations] for row in rows]
    hand_out(request, "appeal", "inbox", listed, by=_by(request))
    shown = [{"row": row, "turn": _turn(row)} for row in rows]
    return render(request, "console/appeals.html", {"rows": shown})


@require_safe
@for_deciders
@delivers("appeal")
def appeal(request: HttpRequest, appeal: UUID) -> HttpResponse:
    return _shown(request, _found(appeal))


@require_POST
@for_deciders
@delivers("appeal")
def act(request: HttpRequest, appeal: UUID, act: str) -> HttpResponse:
    """Take one step; where it is refused, the same page says why."""
    row = _found(appeal)
    if act not in ACTS:
        raise Http404
    form = _forms(row)[act](request.POST)
    if not form.is_valid():
        return _shown(request, row, bound={act: form}, status=422)
    try:
        ACTS[act](row, form, _by(request))
    except DutyRefused as refused:
        return _shown(
            request,
            row,
            complaint=str(refused),
            bound={act: form},
            status=DUTY_REFUSED.get(refused.reason, 409),
        )
    except Refused as refused:
        found = refused.refusal
        return _shown(request, row, problem=found, bound={act: form}, status=found.status)
    messages.success(request, _("Done, and on record."))
    return redirect("judging:appeal", row.id)


def _assign(row: Appeal, form: Any, by: Actor) -> None:
    services.assign(row.id, **form.people(), by=by)


def _draft(row: Appeal, form: forms.Form, by: Actor) -> None:
    services.draft(row.id, **form.cleaned_data, by=by)


ACTS: dict[str, Callable[[Appeal, forms.Form, Actor], object]] = {
    "admit": lambda row, form, by: services.admit(row.id, by=by),
    "dismiss": lambda row, form, by: services.dismiss(row.id, reason=form.cleaned_data["text"], by=by),
    "assign": _assign,
    "notes": lambda row, form, by: services.write_notes(row.id, text=form.cleaned_data["text"], by=by),
    "draft": _draft,
    "approve": lambda row, form, by: services.approve(row.id, by=by),
    "send_back": lambda row, form, by: services.send_back(row.id, remark=form.cleaned_data["text"], by=by),
}
OFFERED: dict[str, tuple[str, ...]] = {
    State.FILED: ("admit", "dismiss"),
    State.ADMITTED: ("assign",),
    State.ASSIGNED: ("notes", "draft"),
    State.DRAFTED: ("approve", "send_back"),
}
"""Which forms the page has, by state."""


def _forms(row: Appeal) -> dict[str, Callable[..., Any]]:
    def text(words_: tuple[Any, Any], prefix: str) -> Callable[..., TextForm]:
        return lambda sent=None: TextForm(*words_, sent, auto_id=f"id_{prefix}_%s")

    return {
        "admit": lambda sent=None: forms.Form(sent),
        "dismiss": text(REASON, "dismiss"),
        "assign": lambda sent=None: PeopleForm(sent),
        "notes": text(NOTES, "notes"),
        "draft": lambda sent=None: DraftForm(row, sent, auto_id="id_draft_%s"),
        "approve": lambda sent=None: forms.Form(sent),
        "send_back": text(REMARK, "send_back"),
    }


def _found(which: UUID) -> Appeal:
    row = queries.appeal(which)
    if row is None:
        raise Http404
    return row


def _shown(
    request: HttpRequest,
    row: Appeal,
    *,
    problem: Refusal | None = None,
    complaint: str = "",
    bound: dict[str, Any] | None = None,
    status: int = 200,
) -> HttpResponse:
    """The page of one appeal; that it was shown is on record before it is sent."""
    person = signed_in(request)
    tie = conflicts.conflict_of(person, row)
    if tie in CLOSED:
        hand_out(request, "appeal", row.id, {"refused": tie.value}, by=_by(request))
        return render(request, "console/appeal_closed.html", {"problem": Refusal(tie)}, status=403)
    handling = Handling.objects.select_related("expert", "engineer").filter(appeal=row).first()
    drafts = list(
        Draft.objects.filter(appeal=row).select_related("proposed_by", "decided_by").order_by("number")
    )
    made = _forms(row)
    offered = {
        name: (bound or {}).get(name) or made[name]()
        for name in OFFERED.get(row.state, ())
        if tie is None and _may(person, row, name, handling, drafts)
    }
    form = {
        "face": queries.face(row),
        "handling": [handling.opinion, handling.notes] if handling else [],
        "drafts": [[draft.number, draft.outcome, draft.text] for draft in drafts],
    }
    hand_out(request, "appeal", row.id, form, by=_by(request))
    context = {
        "row": row,
        "facts": words.facts(row.facts),
        "handling": handling,
        "drafts": drafts,
        "ruling": queries.ruling_of(row),
        "effects": queries.effects_of(row),
        "recheck": queries.recheck_of(row),
        "threshold": policies.THRESHOLD,
        "turn": _turn(row),
        "next": words.NEXT[row.state],
        "tie": Refusal(tie) if tie else None,
        "offered": offered,
        "problem": problem,
        "complaint": complaint,
    }
    return render(request, "console/appeal.html", context, status=status)


def _may(person: User, row: Appeal, step: str, handling: Handling | None, drafts: list[Draft]) -> bool:
    """Whether the page offers the step; the service decides again."""
    duties = duties_of(person)
    is_arbiter = bool(duties & RULE.approvers)
    late = row.escalations and not conflicts.is_from_outside(person)
    if step in ("notes", "draft"):
        named = handling is not None and handling.engineer_id == person.pseudonym
        return named or (step == "draft" and is_arbiter)
    if step in ("approve", "send_back"):
        own = bool(drafts) and drafts[-1].proposed_by_id == person.pseudonym
        return is_arbiter and not own and not late
    return not late and (is_arbiter or step != "dismiss")


def _turn(row: Appeal) -> Any:
    turn = policies.owner(row.state, escalations=row.escalations)
    return words.TURNS[turn] if turn else ""


def _by(request: HttpRequest) -> Actor:
    return accounts.actor_for(signed_in(request), channel="web")


# --- the expert's part: without the vendor's name -----------------------------------------------------


@require_safe
@for_experts
@delivers("appeal")
def opinions(request: HttpRequest) -> HttpResponse:
    """Appeals for which this person was named and that wait for an opinion."""
    rows = _named(signed_in(request))
    hand_out(request, "appeal", "opinions", [str(row.id) for row in rows], by=_by(request))
    return render(request, "console/opinions.html", {"rows": rows})


@require_http_methods(["GET", "HEAD", "POST"])
@for_experts
@delivers("appeal")
def opinion(request: HttpRequest, appeal: UUID) -> HttpResponse:
    row = next((found for found in _named(signed_in(request)) if found.id == appeal), None)
    if row is None:
        raise Http404
    sent = request.POST if request.method == "POST" else None
    form = TextForm(*OPINION, sent)
    context: dict[str, Any] = {"row": row, "form": form, "facts": words.facts(row.facts)}
    if sent is not None and form.is_valid():
        try:
            services.write_opinion(row.id, text=form.cleaned_data["text"], by=_by(request))
        except DutyRefused as refused:
            form.add_error(None, str(refused))
        except Refused as refused:
            form.add_error(None, f"{refused.refusal.detail} [{refused.refusal.code}]")
        else:
            messages.success(request, _("Your opinion is on record."))
            return redirect("judging:opinions")
    shown = [row.subject, row.domain, row.grounds, row.facts]
    hand_out(request, "appeal", row.id, shown, by=_by(request))
    return render(request, "console/opinion.html", context, status=409 if form.errors else 200)


def _named(person: User) -> list[Appeal]:
    rows = Appeal.objects.filter(handling__expert=person.pseudonym, state=State.ASSIGNED)
    return list(rows.select_related("task_set", "handling").order_by("due_at"))
