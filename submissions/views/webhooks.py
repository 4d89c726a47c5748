"""Webhooks: list, create (the secret is shown once), and one with its deliveries, its test and its end."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods, require_safe

from accounts.access import fresh_page, fresh_to_change, member_page, strong_page, strong_to_change
from accounts.views import membership_in
from submissions.models import WebhookEndpoint
from submissions.problems import Refused
from submissions.queries.registry import NotVisible
from submissions.services import standing
from submissions.views.common import actor, form_status, refused_page
from submissions.webhooks import queries, services
from submissions.webhooks.kinds import CHOICES, MOST


class WebhookForm(forms.Form):
    url = forms.CharField(
        label=gettext_lazy("Address"),
        max_length=500,
        help_text=gettext_lazy(
            "https, on port 443 or 8443, at a public address. It is looked up for each message."
        ),
    )
    kinds = forms.MultipleChoiceField(
        label=gettext_lazy("Send a message when"), choices=CHOICES, widget=forms.CheckboxSelectMultiple
    )


@require_safe
@member_page
def webhook_list(request: HttpRequest) -> HttpResponse:
    rows = queries.webhooks_of(membership_in(request).organisation)
    return render(request, "submissions/webhooks.html", {"rows": rows, "most": MOST})


@require_http_methods(["GET", "HEAD", "POST"])
@member_page
@strong_page
@fresh_page
def new_webhook(request: HttpRequest) -> HttpResponse:
    """Create one; its secret is in this one answer and nowhere else."""
    form = WebhookForm(request.POST or None)
    template = "submissions/webhook_new.html"
    if request.method == "POST" and form.is_valid():
        try:
            _require_writer(request)
            organisation = membership_in(request).organisation
            row, secret = services.create(organisation, **form.cleaned_data, by=actor(request))
        except Refused as refused:
            return refused_page(request, template, {"form": form}, refused.refusal)
        return render(request, "submissions/webhook_created.html", {"webhook": row, "secret": secret})
    return render(request, template, {"form": form}, status=form_status(form))


@require_http_methods(["GET", "HEAD", "POST"])
@member_page
@strong_to_change
@fresh_to_change
def webhook(request: HttpRequest, webhook: UUID) -> HttpResponse:
    """Its latest messages; a test, a replay, switching on and removing."""
    try:
        row = queries.webhook_of(membership_in(request).organisation, webhook)
    except NotVisible:
        raise Http404 from None
    if request.method == "POST":
        try:
            _require_writer(request)
            return _act(request, row)
        except Refused as refused:
            return refused_page(request, "submissions/webhook.html", _page_of(row), refused.refusal)
    return render(request, "submissions/webhook.html", _page_of(row))


def _page_of(row: WebhookEndpoint) -> dict[str, object]:
    deliveries = [(found, queries.state_of(found)) for found in queries.deliveries_of(row)]
    return {
        "webhook": row,
        "words": [words for kind, words in CHOICES if kind in row.kinds],
        "deliveries": deliveries,
    }


def _require_writer(request: HttpRequest) -> None:
    """Raises Refused for who only looks, and for organisations and accounts that do not stand well."""
    standing.require(membership_in(request).organisation, actor(request))


def _act(request: HttpRequest, row: WebhookEndpoint) -> HttpResponse:
    acts: dict[str, Callable[[], str]] = {
        "test": lambda: _tested(row),
        "replay": lambda: _replayed(request, row),
        "switch_on": lambda: _switched_on(request, row),
        "remove": lambda: _removed(request, row),
    }
    act = acts.get(request.POST.get("action", ""))
    if act is None:
        raise Http404
    messages.success(request, act())
    if row.removed_at is not None:
        return redirect("submissions:webhooks")
    return redirect("submissions:webhook", row.pk)


def _tested(row: WebhookEndpoint) -> str:
    services.test(row)
    return _("A test message is on its way. Its outcome appears below within a minute.")


def _replayed(request: HttpRequest, row: WebhookEndpoint) -> str:
    try:
        found = queries.delivery_of(row.organisation, UUID(request.POST.get("delivery", "")))
    except (ValueError, NotVisible):
        raise Http404 from None
    services.replay(found)
    return _("The message is sent again, under the same id.")


def _switched_on(request: HttpRequest, row: WebhookEndpoint) -> str:
    services.switch_on(row, by=actor(request))
    return _("The webhook is on again.")


def _removed(request: HttpRequest, row: WebhookEndpoint) -> str:
    services.remove(row, by=actor(request))
    row.refresh_from_db()
    return _("The webhook is removed.")
