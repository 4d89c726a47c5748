"""The problem queue in the console, for duties that see held-out tasks. Reading a problem is an event."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy
from django.views.decorators.http import require_http_methods, require_safe

from accounts.access import staff_page
from accounts.duties.queries import duties_of
from accounts.duties.table import DUTIES, Duty
from accounts.services import actor_for
from accounts.views import signed_in
from audit.events import Actor
from benchmark.models import TaskRevision, TaskSetVersion
from governance.records.lines import PARTS
from governance.records.problems import policies, queries, services
from governance.records.problems.models import Problem
from submissions.delivery import delivers, hand_out
from submissions.problems import Refused

REFUSED = 409
View = Callable[..., HttpResponse]


def seeing_page(view: View) -> View:
    """For staff whose duty sees held-out tasks; for other staff there is no such page."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not duties_of(signed_in(request)) & policies.SEE:
            raise Http404
        return view(request, *args, **kwargs)

    return staff_page(guarded)


class ProblemForm(forms.Form):
    """A defect as somebody of the staff reports it."""

    task_set = forms.ModelChoiceField(
        label=gettext_lazy("Task-set version"),
        queryset=TaskSetVersion.objects.filter(state=TaskSetVersion.State.FROZEN).order_by("-created_at"),
    )
    task = forms.SlugField(
        label=gettext_lazy("Task"),
        required=False,
        help_text=gettext_lazy("Its id; leave it empty where the whole version is concerned."),
    )
    part = forms.ChoiceField(label=gettext_lazy("Part"), choices=list(PARTS.items()))
    evidence = forms.CharField(
        label=pgettext_lazy("case", "Evidence"), max_length=8000, widget=forms.Textarea(attrs={"rows": 6})
    )

    def clean(self) -> dict[str, Any]:
        found: dict[str, Any] = super().clean() or {}
        slug, version = found.get("task"), found.get("task_set")
        found["revision"] = TaskRevision.objects.filter(version=version, slug=slug).first() if slug else None
        if slug and found["revision"] is None:
            self.add_error("task", _("This version has no such task."))
        return found


class MoveForm(forms.Form):
    """What becomes of a problem."""

    to = forms.ChoiceField(label=gettext_lazy("Becomes"), widget=forms.RadioSelect)
    fixed_in = forms.ModelChoiceField(
        label=gettext_lazy("Mended in version"),
        required=False,
        queryset=TaskSetVersion.objects.filter(state=TaskSetVersion.State.FROZEN).order_by("-created_at"),
        help_text=gettext_lazy("Only where it is settled."),
    )
    reason = forms.CharField(
        label=gettext_lazy("Reason"), max_length=2000, widget=forms.Textarea(attrs={"rows": 3})
    )

    def __init__(self, state: str, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field: Any = self.fields["to"]
        field.choices = [(to, Problem.State(to).label) for to in policies.MOVES.get(state, ())]


@require_safe
@seeing_page
def problems(request: HttpRequest) -> HttpResponse:
    """Every problem without its task or evidence; those stand on its own page."""
    return render(request, "records/problems.html", {"rows": queries.queue()})


@require_http_methods(["GET", "HEAD", "POST"])
@seeing_page
def new(request: HttpRequest) -> HttpResponse:
    form = ProblemForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        said = form.cleaned_data
        row = services.report_problem(
            said["task_set"],
            said["revision"],
            source=Problem.Source.STAFF,
            part=said["part"],
            evidence=said["evidence"],
            by=_by(request),
        )
        messages.success(request, _("The problem is in the queue."))
        return redirect("problem_queue:queue_entry", row.id)
    return render(request, "records/problem_new.html", {"form": form})


@require_http_methods(["GET", "HEAD", "POST"])
@seeing_page
@delivers("problem")
def problem(request: HttpRequest, which: UUID) -> HttpResponse:
    """One problem with its task and evidence, and the form that moves it on."""
    row = queries.problem(which)
    if row is None:
        raise Http404
    form, status, refusal = MoveForm(row.state, request.POST or None), 200, ""
    if request.method == "POST" and form.is_valid():
        said = form.cleaned_data
        try:
            services.move_problem(
                which, said["to"], reason=said["reason"], fixed_in=said["fixed_in"], by=_by(request)
            )
        except Refused as refused:
            refusal, status = f"{refused.refusal.detail} [{refused.refusal.code}]", REFUSED
        else:
            messages.success(request, _("It is on record."))
            return redirect("problem_queue:queue_entry", which)
    face = [row.state, str(row.task_id), row.evidence, row.reason]
    hand_out(request, "problem", row.id, face, by=_by(request))
    acting = policies.actors(row.state, is_escalated=row.escalated_at is not None)
    context = {
        "row": row,
        "form": form if duties_of(signed_in(request)) & acting else None,
        "refusal": refusal,
        "turn": [DUTIES[duty].name for duty in Duty if duty in acting],
    }
    return render(request, "records/problem.html", context, status=status)


def _by(request: HttpRequest) -> Actor:
    return actor_for(signed_in(request), channel="web")
