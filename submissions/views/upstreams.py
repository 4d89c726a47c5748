"""Model upstreams: list, register, one with its credential and trial, change limits, retire."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.access import fresh_page, member_page, strong_page
from accounts.views import membership_in
from evaluation.upstreams.models import NAME_PATTERN, Currency, Dialect, Exposure
from submissions.problems import Refused
from submissions.queries.upstreams import UpstreamView, platform_upstreams, upstream_of, upstreams_of
from submissions.services import upstreams
from submissions.views.common import actor, form_status, refused_page

EXPOSURES = [choice for choice in Exposure.choices if choice[0] != Exposure.SEALED]


def _price(label: Any, **more: Any) -> forms.DecimalField:
    return forms.DecimalField(
        label=label, max_digits=12, decimal_places=4, min_value=0, required=False, **more
    )


class LimitsForm(forms.Form):
    """What may change later."""

    name = forms.RegexField(
        NAME_PATTERN,
        label=gettext_lazy("Name"),
        max_length=63,
        help_text=gettext_lazy("What “upstream” in harness.toml says: a–z, 0–9, inner hyphens and dots."),
        error_messages={"invalid": gettext_lazy("Use 1 to 63 of a–z, 0–9 and inner hyphens or dots.")},
    )
    requests_per_minute = forms.IntegerField(
        label=gettext_lazy("Requests a minute"), min_value=1, max_value=upstreams.MOST_A_MINUTE, initial=60
    )
    concurrency = forms.IntegerField(
        label=gettext_lazy("Requests at once"), min_value=1, max_value=upstreams.MOST_AT_ONCE, initial=4
    )
    ceiling = forms.DecimalField(
        label=gettext_lazy("Spending ceiling"),
        max_digits=12,
        decimal_places=2,
        min_value=0,
        help_text=gettext_lazy("Reaching it pauses the submission and asks you; it zeroes nothing."),
    )
    currency = forms.ChoiceField(label=gettext_lazy("Currency"), choices=Currency.choices)
    input_price = _price(gettext_lazy("Price of a million input tokens"))
    cached_price = _price(gettext_lazy("Price of a million cached input tokens"))
    output_price = _price(
        gettext_lazy("Price of a million output tokens"),
        help_text=gettext_lazy("Without prices spending is not known, and the ceiling pauses nothing."),
    )

    def limits(self) -> upstreams.Limits:
        return upstreams.Limits(
            **{name: self.cleaned_data[name] for name in upstreams.Limits.__annotations__}
        )


class UpstreamForm(LimitsForm):
    """The whole; what is called comes first."""

    dialect = forms.ChoiceField(label=gettext_lazy("Dialect"), choices=Dialect.choices)
    base_url = forms.CharField(
        label=gettext_lazy("Base address"),
        max_length=300,
        help_text=gettext_lazy(
            "https and public, for instance https://api.example.com/v1; the dialect's path is added."
        ),
    )
    snapshot = forms.CharField(
        label=gettext_lazy("Model snapshot"),
        max_length=120,
        help_text=gettext_lazy(
            "The exact, dated name of the model. Another model's answers are not accepted."
        ),
    )
    exposure = forms.ChoiceField(
        label=gettext_lazy("Who can read the prompts"), choices=EXPOSURES, widget=forms.RadioSelect
    )
    field_order = ("name", "dialect", "base_url", "snapshot", "exposure")

    def endpoint(self) -> upstreams.Endpoint:
        return upstreams.Endpoint(
            **{name: self.cleaned_data[name] for name in upstreams.Endpoint.__annotations__}
        )


class CredentialForm(forms.Form):
    credential = forms.CharField(
        label=gettext_lazy("Credential"),
        max_length=512,
        strip=True,
        widget=forms.PasswordInput(attrs={"autocomplete": "off"}),
        help_text=gettext_lazy("It is sealed at once. Nobody reads it back, staff neither."),
    )


@require_safe
@member_page
def upstream_list(request: HttpRequest) -> HttpResponse:
    context = {
        "rows": upstreams_of(membership_in(request).organisation),
        "platform": platform_upstreams(),
    }
    return render(request, "submissions/upstreams.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@member_page
@strong_page
@fresh_page
def new_upstream(request: HttpRequest) -> HttpResponse:
    form = UpstreamForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            row = upstreams.register_upstream(
                membership_in(request).organisation,
                name=form.cleaned_data["name"],
                endpoint=form.endpoint(),
                limits=form.limits(),
                by=actor(request),
            )
        except Refused as refused:
            return refused_page(request, "submissions/upstream_new.html", {"form": form}, refused.refusal)
        return redirect("submissions:upstream", row.id)
    return render(request, "submissions/upstream_new.html", {"form": form}, status=form_status(form))


@require_safe
@member_page
def upstream(request: HttpRequest, upstream: UUID) -> HttpResponse:
    return render(request, "submissions/upstream.html", _context(_one(request, upstream)))


@require_http_methods(["GET", "HEAD", "POST"])
@sensitive_post_parameters("credential")
@member_page
@strong_page
@fresh_page
def set_credential(request: HttpRequest, upstream: UUID) -> HttpResponse:
    """The credential is in this request and in no answer. GET leads back, for who proved who they are in between."""
    found, form = _one(request, upstream), CredentialForm(request.POST)
    if request.method != "POST":
        return redirect("submissions:upstream", found.row.id)
    context = _context(found) | {"credential_form": form}
    if not form.is_valid():
        return render(request, "submissions/upstream.html", context, status=422)
    try:
        upstreams.set_credential(found.row.id, form.cleaned_data["credential"], by=actor(request))
    except Refused as refused:
        return refused_page(request, "submissions/upstream.html", context, refused.refusal)
    messages.success(request, _("The credential is set."))
    return redirect("submissions:upstream", found.row.id)


@require_POST
@member_page
def try_out(request: HttpRequest, upstream: UUID) -> HttpResponse:
    found = _one(request, upstream)
    try:
        upstreams.ask_trial(found.row.id, by=actor(request))
    except Refused as refused:
        return refused_page(request, "submissions/upstream.html", _context(found), refused.refusal)
    messages.info(request, _("The call is being made. Load this page again in a few seconds."))
    return redirect("submissions:upstream", found.row.id)


@require_http_methods(["GET", "HEAD", "POST"])
@member_page
@strong_page
@fresh_page
def change_upstream(request: HttpRequest, upstream: UUID) -> HttpResponse:
    found = _one(request, upstream)
    initial = {name: getattr(found.row, name) for name in ("name", *upstreams.Limits.__annotations__)}
    form = LimitsForm(request.POST or None, initial=initial)
    context = {"form": form, "view": found}
    if request.method == "POST" and form.is_valid():
        try:
            upstreams.change_upstream(found.row.id, changes=form.cleaned_data, by=actor(request))
        except Refused as refused:
            return refused_page(request, "submissions/upstream_change.html", context, refused.refusal)
        return redirect("submissions:upstream", found.row.id)
    return render(request, "submissions/upstream_change.html", context, status=form_status(form))


@require_http_methods(["GET", "HEAD", "POST"])
@member_page
@strong_page
@fresh_page
def retire_upstream(request: HttpRequest, upstream: UUID) -> HttpResponse:
    found = _one(request, upstream)
    if request.method == "POST":
        try:
            upstreams.retire_upstream(found.row.id, by=actor(request))
        except Refused as refused:
            return refused_page(request, "submissions/upstream_retire.html", {"view": found}, refused.refusal)
        return redirect("submissions:upstreams")
    return render(request, "submissions/upstream_retire.html", {"view": found})


def _one(request: HttpRequest, upstream: UUID) -> UpstreamView:
    return upstream_of(membership_in(request).organisation, upstream)


def _context(found: UpstreamView) -> dict[str, Any]:
    return {"view": found, "credential_form": CredentialForm()}
