"""A vendor's pages of appeals: the list, filing one, how one stands, withdrawing it."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.access import member_page, strong_to_change
from accounts.views import membership_in
from governance.appeals import policies, queries, services, words
from governance.appeals.forms import AppealForm
from governance.appeals.models import Appeal
from governance.appeals.policies import FREE, State
from submissions.delivery import delivers, hand_out, restates_the_request, show_status
from submissions.problems import Refused
from submissions.queries import NotVisible
from submissions.views.common import actor, form_status, refused_page

PRESET = ("subject", "submission", "domain", "task_set")


@require_safe
@member_page
@delivers("quota")
def appeals(request: HttpRequest) -> HttpResponse:
    """Open ones by deadline, then what is over."""
    organisation = membership_in(request).organisation
    rows = queries.appeals_of(organisation)
    faces = [queries.face(row) for row in rows]
    show_status(request, "quota", ("organisation", organisation.id), faces, by=actor(request))
    free = [
        {"task_set": version, "left": max(0, FREE - queries.spent(organisation, version)), "limit": FREE}
        for version in queries.versions_with_appeals()
    ]
    return render(request, "appeals/appeals.html", {"rows": rows, "free": free})


@require_http_methods(["GET", "HEAD", "POST"])
@member_page
@strong_to_change
@delivers("quota")
def new_appeal(request: HttpRequest) -> HttpResponse:
    """File one; the address may say what it is about."""
    organisation = membership_in(request).organisation
    restates_the_request(request)
    sent = request.POST or None
    preset = {name: request.GET[name] for name in PRESET if name in request.GET}
    form = AppealForm(organisation, sent, initial=preset)
    context = {"form": form, "key": request.POST.get("key") or uuid.uuid4().hex, "limit": FREE}
    if sent is not None and form.is_valid():
        try:
            row = services.file(form.claim(), by=actor(request), key=sent.get("key", ""))
        except Refused as refused:
            return refused_page(request, "appeals/appeal_new.html", context, refused.refusal)
        return redirect("appeals:appeal", row.id)
    return render(request, "appeals/appeal_new.html", context, status=form_status(form))


@require_safe
@member_page
@delivers("appeal")
def appeal(request: HttpRequest, appeal: UUID) -> HttpResponse:
    row = _own(request, appeal)
    context = _page(row)
    hand_out(request, "appeal", row.id, context["face"], by=actor(request))
    return render(request, "appeals/appeal.html", context)


@require_POST
@member_page
@strong_to_change
@delivers("appeal")
def withdraw(request: HttpRequest, appeal: UUID) -> HttpResponse:
    return _done(request, appeal, lambda row: services.withdraw(row.id, by=actor(request)))


@require_POST
@member_page
@strong_to_change
@delivers("appeal")
def reveal(request: HttpRequest, appeal: UUID) -> HttpResponse:
    """Give the word for the blind re-check."""
    word = request.POST.get("word", "")
    return _done(request, appeal, lambda row: services.reveal(row.id, word=word, by=actor(request)))


def _done(request: HttpRequest, appeal: UUID, act: Callable[[Appeal], object]) -> HttpResponse:
    """Take a step and lead back to the page, or show it again with what stands in the way."""
    row = _own(request, appeal)
    try:
        act(row)
    except Refused as refused:
        context = _page(_own(request, appeal))
        hand_out(request, "appeal", row.id, context["face"], by=actor(request))
        return refused_page(request, "appeals/appeal.html", context, refused.refusal)
    return redirect("appeals:appeal", row.id)


def _own(request: HttpRequest, which: UUID) -> Appeal:
    try:
        return queries.appeal_of(membership_in(request).organisation, which)
    except NotVisible:
        raise Http404 from None


def _page(row: Appeal) -> dict[str, Any]:
    turn = policies.owner(row.state, escalations=row.escalations)
    return {
        "row": row,
        "face": queries.face(row),
        "ruling": queries.ruling_of(row),
        "effects": [
            {"row": effect, "result": words.RESULTS.get(effect.result, effect.result)}
            for effect in queries.effects_of(row)
        ],
        "recheck": queries.recheck_of(row),
        "threshold": policies.THRESHOLD,
        "next": words.NEXT[row.state],
        "turn": words.TURNS[turn] if turn else "",
        "steps": _steps(row),
        "may_withdraw": policies.may_withdraw(row.state),
        "answer_days": policies.ANSWER_DAYS,
    }


def _steps(row: Appeal) -> list[dict[str, Any]]:
    """The timeline: what is behind it, where it is, what is ahead."""
    if row.state in (State.INADMISSIBLE, State.WITHDRAWN):
        return [
            {"state": State.FILED.value, "look": "done", "icon": "check", "at": row.filed_at},
            {"state": row.state, "look": "failed", "icon": "stop", "at": row.state_since},
        ]
    here = [state.value for state in words.STEPS].index(row.state)
    found = []
    for number, state in enumerate(words.STEPS):
        look = "done" if number < here or row.is_over else "now" if number == here else "open"
        at = {State.FILED: row.filed_at, State.ADMITTED: row.admitted_at}.get(state)
        if number == here:
            at = row.state_since
        icon = {"done": "check", "now": "half", "open": "ring"}[look]
        found.append({"state": state.value, "look": look, "icon": icon, "at": at if number <= here else None})
    return found
