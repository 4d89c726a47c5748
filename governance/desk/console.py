"""Staff: cases with what their alarms rest on, and each decision on a page that says what follows from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods, require_safe

from accounts.access import deciding_page
from accounts.duties.queries import duties_of
from accounts.duties.refusals import DutyRefused
from accounts.duties.table import DUTIES, Decision, Duty
from accounts.views import signed_in
from audit import log
from audit.events import Actor
from governance.desk import cases, casework, events, evidence, queries
from governance.desk.casework import Act
from governance.desk.forms import AskForm, HoldForm, LinkForm, ReasonForm, SubmissionForm
from governance.desk.holding import REFUSED, by_of, words
from governance.desk.models import Case
from governance.desk.rules import QUESTIONS, RULES
from submissions.problems import Refused

for_reviewers = deciding_page(Decision.OPERATOR_CASE)
Do = Callable[[Case, Mapping[str, Any], Actor], object]


@dataclass(frozen=True)
class CaseAct:
    """What a page of a case offers: its link, what follows, and how it is done."""

    name: Promise
    says: Promise
    form: type[ReasonForm]
    do: Do


def _alone(act: Act) -> Do:
    return lambda case, facts, by: cases.decide(case.id, act, reason=facts["reason"], by=by)


ACTS: Mapping[str, CaseAct] = {
    Act.TAKE: CaseAct(
        _("Take up"), _("You review it from now on, within ten working days."), ReasonForm, _alone(Act.TAKE)
    ),
    Act.WATCH: CaseAct(
        _("Keep watching"),
        _(
            "Nothing is done now. The next alarm opens the case anew; without one it closes after sixty working days."
        ),
        ReasonForm,
        _alone(Act.WATCH),
    ),
    Act.HOLD: CaseAct(
        _("Hold a result"),
        _(
            "A submission under way is held once its result would be released, for ten working days at most. The "
            "vendor is told then, and not before."
        ),
        HoldForm,
        lambda case, facts, by: cases.hold_next(case.id, facts["submission"], reason=facts["reason"], by=by),
    ),
    Act.ASK: CaseAct(
        _("Ask the vendor"),
        _("The vendor reads the question, and answers within ten working days or not at all."),
        AskForm,
        lambda case, facts, by: cases.ask(
            case.id, facts["submission"], facts["question"], reason=facts["reason"], by=by
        ),
    ),
    Act.LINK: CaseAct(
        _("Hand over to link review"),
        _("Two identity reviewers decide whether the two belong together. Nothing is joined here."),
        LinkForm,
        lambda case, facts, by: cases.link(
            case.id, facts["organisation"].lineage, reason=facts["reason"], by=by
        ),
    ),
    Act.ROTATE: CaseAct(
        _("Put its tasks into the rotation queue"),
        _(
            "Every task that the alarms rest on waits there for two governors, who decide about each. It takes effect "
            "with the next version; the vendor is not told."
        ),
        ReasonForm,
        lambda case, facts, by: cases.rotate(case.id, reason=facts["reason"], by=by),
    ),
    Act.FALSE_ALARM: CaseAct(
        _("False alarm"),
        _(
            "The case closes. Holds that last are lifted: the use is returned, the cooldown ends. Its alarms count as "
            "honest when levels are set anew."
        ),
        ReasonForm,
        lambda case, facts, by: cases.call_false_alarm(case.id, reason=facts["reason"], by=by),
    ),
    Act.SETTLE: CaseAct(
        _("Close as settled"),
        _("Everything that was due is done. Holds go on as they are. A later alarm opens another case."),
        ReasonForm,
        _alone(Act.SETTLE),
    ),
}


@require_safe
@for_reviewers
def signals(request: HttpRequest) -> HttpResponse:
    """Cases, holds and orders that wait for somebody first, then those that are over."""
    context = {
        "cases": [(row, queries.parties(row)) for row in queries.cases_for_staff()],
        "holds": [(row, RULES[row.rule]) for row in queries.holds_for_staff()],
        "orders": queries.orders_for_staff(),
    }
    return render(request, "console/signals.html", context)


@require_safe
@for_reviewers
def case(request: HttpRequest, which: UUID) -> HttpResponse:
    """Everything about one case. That the evidence was read is on record before the body is sent."""
    row = _case(which)
    duties = duties_of(signed_in(request))
    with transaction.atomic():
        log.append(events.CaseRead(subject=row.id, surface="page"), by=by_of(request))
        alarms = queries.alarms_of(row)
        drawn = [one for one in map(evidence.shown, _latest(alarms)) if one is not None]
    stage = casework.STAGES.get(row.state)
    context = {
        "case": row,
        "parties": queries.parties(row),
        "owner": DUTIES[stage.owner].name if stage else "",
        "is_operators": cases.is_operators(row),
        "alarms": [(alarm, RULES.get(alarm.channel)) for alarm in alarms],
        "drawn": drawn,
        "links": queries.links_of(row),
        "steps": queries.steps_of(row),
        "questions": [(one, QUESTIONS[one.question]) for one in queries.questions_of(row)],
        "holds": queries.holds_of(row),
        "acts": [(act.value, ACTS[act].name) for act in casework.acts(row.state) if act in ACTS],
        "sees_ids": Duty.HELD_OUT_GOVERNOR in duties,
    }
    return render(request, "console/case.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@for_reviewers
def act(request: HttpRequest, which: UUID, act: str) -> HttpResponse:
    """A page of its own that says what the decision does, and takes it with a reason."""
    row = _case(which)
    if act not in ACTS:
        raise Http404
    page, status = ACTS[act], 200
    form = _form(page, request, row)
    if request.method == "POST" and form.is_valid():
        try:
            page.do(row, form.cleaned_data, by_of(request))
        except (DutyRefused, Refused) as refused:
            form.add_error(None, words(refused))
            status = REFUSED
        else:
            messages.success(request, str(_("It is on record.")))
            return redirect("signals:case", row.id)
    context = {"case": row, "page": page, "form": form}
    return render(request, "console/case_act.html", context, status=status)


def _form(page: CaseAct, request: HttpRequest, row: Case) -> forms.Form:
    if issubclass(page.form, SubmissionForm):
        return page.form(request.POST or None, case=row)
    return page.form(request.POST or None)


def _latest(alarms: list[Any]) -> list[Any]:
    """The latest alarm of each harness: what it rests on tells the whole line's story so far."""
    return list({alarm.harness_id: alarm for alarm in alarms}.values())


def _case(which: UUID) -> Case:
    found = queries.case(which)
    if found is None:
        raise Http404
    return found
