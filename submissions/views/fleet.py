"""Staff pages of the fleet: hosts and workers, queues, switches; each order on a page of its own, with its reason."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext
from django.views.decorators.http import require_http_methods, require_safe

from accounts.access import duty_page, staff_page
from accounts.duties.queries import duties_of
from accounts.duties.refusals import DutyRefused
from accounts.duties.table import Duty
from accounts.services import actor_for
from accounts.views import signed_in
from audit.events import Actor
from config import clock
from evaluation.alerts import queries as alerts
from evaluation.alerts.models import FleetAlert
from evaluation.fleet import queries as orders
from evaluation.fleet import reports, services
from evaluation.fleet.models import FleetOrder, Switch
from evaluation.queries import live_workers
from submissions.problems import Refused

MIB = 1024 * 1024
REFUSED = 409
SEEN_WITHIN = timedelta(minutes=10)
"""Workers silent for longer are no longer listed."""
engineers_page = duty_page(Duty.EVALUATION_ENGINEER)


class ReasonForm(forms.Form):
    reason = forms.CharField(
        label=gettext_lazy("Reason"),
        max_length=500,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=gettext_lazy("Stays on record. Name no vendor and no task in it."),
    )


@dataclass(frozen=True)
class Act:
    """What a page asks: heading, button, what follows, and about what."""

    title: str
    button: str
    says: list[str]
    facts: list[tuple[str, str]] = field(default_factory=list)
    danger: bool = False
    back: str = "console:workers"
    argument: UUID | None = None


def asked(request: HttpRequest, act: Act, do: Callable[[str], object]) -> HttpResponse:
    """The page of one order, with a reason; once it is sent and taken, the page that it was about."""
    form, status = ReasonForm(request.POST or None), 200
    if request.method == "POST":
        status = 422
        if form.is_valid():
            try:
                do(form.cleaned_data["reason"])
            except (DutyRefused, Refused) as refused:
                form.add_error(None, words(refused))
                status = REFUSED
            else:
                messages.success(request, _("It is on record."))
                return redirect(act.back, act.argument) if act.argument else redirect(act.back)
    return render(request, "console/fleet_act.html", {"act": act, "form": form}, status=status)


def words(refused: DutyRefused | Refused) -> str:
    if isinstance(refused, DutyRefused):
        return str(refused)
    return f"{refused.refusal.detail} [{refused.refusal.code}]"


def by_of(request: HttpRequest) -> Actor:
    return actor_for(signed_in(request), channel="web")


@require_safe
@staff_page
def workers(request: HttpRequest) -> HttpResponse:
    """Queues with the age of the oldest, switches, hosts with their workers, and episodes set apart."""
    duties = duties_of(signed_in(request))
    standing = {pause.switch: pause for pause in orders.standing_pauses()}
    may = {switch: duty_of(switch) in duties for switch in Switch}
    hosts = reports.hosts(live_workers(clock.now() - SEEN_WITHIN))
    context = {
        "queues": [(row, _alert(row.queue)) for row in alerts.waiting()],
        "switches": [(switch, standing.get(switch.value), may[switch]) for switch in Switch],
        "hosts": [
            (
                host,
                [(line, probes(line.report.report), is_silent(line.report.seen_at)) for line in host.workers],
            )
            for host in hosts
        ],
        "apart": orders.quarantined_episodes(),
        "is_engineer": Duty.EVALUATION_ENGINEER in duties,
    }
    return render(request, "console/workers.html", context)


def _alert(queue: str) -> FleetAlert | None:
    return FleetAlert.objects.filter(queue=queue, ended_at=None).first()


def duty_of(switch: Switch) -> Duty:
    """Whose switch it is; the service decides by the same."""
    return Duty.HELD_OUT_GOVERNOR if switch == Switch.RELEASE else Duty.EVALUATION_ENGINEER


SWITCH_SAYS: dict[Switch, Promise] = {
    Switch.INTAKE: gettext_lazy(
        "While it stands no submission and no preflight is admitted; vendors are told why."
    ),
    Switch.EXECUTION: gettext_lazy(
        "While it stands no episode is begun; what is under way ends. Vendors see that evaluation is paused."
    ),
    Switch.RELEASE: gettext_lazy(
        "While it stands no result is released; it waits for the tick after the pause."
    ),
}


@require_http_methods(["GET", "HEAD", "POST"])
@staff_page
def switch(request: HttpRequest, switch: str, act: str) -> HttpResponse:
    """Pause something for everybody, or let it go on."""
    if switch not in Switch.values or act not in ("pause", "resume"):
        raise Http404
    which = Switch(switch)
    if duty_of(which) not in duties_of(signed_in(request)):
        raise Http404
    pausing = act == "pause"
    page = Act(
        title=(_("Pause: %(what)s?") if pausing else _("Go on: %(what)s?")) % {"what": which.label},
        button=_("Pause") if pausing else _("Go on"),
        says=[
            str(SWITCH_SAYS[which]) if pausing else _("It goes on at once."),
            _("The event switch.paused is written to the audit log.")
            if pausing
            else _("The event switch.resumed is written to the audit log."),
        ],
        danger=pausing,
    )
    do = services.pause if pausing else services.resume
    return asked(request, page, lambda reason: do(which, reason=reason, by=by_of(request)))


@require_http_methods(["GET", "HEAD", "POST"])
@engineers_page
def order(request: HttpRequest, act: str, scope: str, worker: str) -> HttpResponse:
    """Drain or quarantine a worker, or all of a host."""
    if act not in FleetOrder.Kind.values or scope not in FleetOrder.Scope.values:
        raise Http404
    draining = act == FleetOrder.Kind.DRAIN
    page = Act(
        title=_("Drain this?") if draining else _("Put this into quarantine?"),
        button=pgettext("fleet", "Drain") if draining else _("Quarantine"),
        says=[
            _("It finishes what it holds and takes nothing more.")
            if draining
            else _("What it holds is stopped at once and given to others; it takes nothing more."),
            _("The order can be lifted at any time. The event fleet.ordered is written to the audit log."),
        ],
        facts=[(str(FleetOrder.Scope(scope).label), worker)],
        danger=not draining,
    )
    return asked(
        request,
        page,
        lambda reason: services.order_fleet(act, scope, worker[:64], reason=reason, by=by_of(request)),
    )


@require_http_methods(["GET", "HEAD", "POST"])
@engineers_page
def lift(request: HttpRequest, which: UUID) -> HttpResponse:
    """Let a drained or quarantined worker or host take work again."""
    row = FleetOrder.objects.filter(pk=which).first()
    if row is None:
        raise Http404
    page = Act(
        title=_("Lift this order?"),
        button=_("Lift it"),
        says=[
            _("It takes work again at once."),
            _("The event fleet.order_lifted is written to the audit log."),
        ],
        facts=[
            (row.get_scope_display(), row.name),
            (_("Order"), row.get_kind_display()),
            (_("Reason"), row.reason),
        ],
    )
    return asked(
        request, page, lambda reason: services.lift_fleet_order(row.id, reason=reason, by=by_of(request))
    )


def is_silent(seen_at: datetime) -> bool:
    """Whether a worker has shown no sign of life for so long that it is taken for dead."""
    return clock.now() - seen_at > alerts.silence()


def probes(report: dict[str, Any]) -> list[tuple[str, str, str, str]]:
    """(name, sandbox, state of the status table, what was seen) of each probe in a worker's isolation report."""
    words = {"pass": "passed", "fail": "failed"}
    found = []
    for probe in report.get("probes", []):
        result = str(probe.get("result", ""))
        name, where = str(probe.get("name", "")), str(probe.get("where", ""))
        found.append((name, where, words.get(result, result), readable(str(probe.get("detail", "")))))
    return found


def readable(detail: str) -> str:
    """What a probe saw, without the brackets of its data: bytes in MiB, floats with two places."""
    text = re.sub(r"[()\[\]{}'\"]", "", detail)
    text = re.sub(r"\b\d+\.\d{3,}\b", lambda match: f"{float(match[0]):.2f}", text)
    text = re.sub(
        r"(measured|declared) (\d{7,})\b", lambda match: f"{match[1]} {int(match[2]) / MIB:.1f} MiB", text
    )
    return re.sub(r",\s*$", "", text.strip())
