"""The platform's own model upstreams in the console: register, set the credential, try, retire; by engineers."""

from __future__ import annotations

from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.access import duty_page, fresh_page
from accounts.duties.table import Duty
from accounts.services import actor_for
from accounts.views import signed_in
from audit.events import Actor
from evaluation.upstreams.models import Exposure
from submissions.problems import Refused
from submissions.queries.upstreams import UpstreamView, platform_upstream, platform_upstreams_for_staff
from submissions.services import upstreams as services
from submissions.views.common import form_status, refused_page
from submissions.views.upstreams import CredentialForm, UpstreamForm

engineers_page = duty_page(Duty.EVALUATION_ENGINEER)
ONE, NEW = "console/platform_upstream.html", "console/platform_upstream_new.html"
RETIRE = "console/platform_upstream_retire.html"


class PlatformUpstreamForm(UpstreamForm):
    """As a vendor's, with who can read the prompts of an upstream of the platform's."""

    exposure = forms.ChoiceField(
        label=gettext_lazy("Who can read the prompts"),
        choices=[choice for choice in Exposure.choices if choice[0] in services.PLATFORMS],
        widget=forms.RadioSelect,
    )


@require_safe
@engineers_page
def upstreams(request: HttpRequest) -> HttpResponse:
    return render(request, "console/platform_upstreams.html", {"rows": platform_upstreams_for_staff()})


@require_http_methods(["GET", "HEAD", "POST"])
@engineers_page
@fresh_page
def new(request: HttpRequest) -> HttpResponse:
    form = PlatformUpstreamForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        name, endpoint, limits = form.cleaned_data["name"], form.endpoint(), form.limits()
        try:
            row = services.register_upstream(
                None, name=name, endpoint=endpoint, limits=limits, by=_by(request)
            )
        except Refused as refused:
            return refused_page(request, NEW, {"form": form}, refused.refusal)
        return redirect("console:platform_upstream", row.id)
    return render(request, NEW, {"form": form}, status=form_status(form))


@require_safe
@engineers_page
def upstream(request: HttpRequest, upstream: UUID) -> HttpResponse:
    return render(request, ONE, _context(platform_upstream(upstream)))


@require_http_methods(["GET", "HEAD", "POST"])
@sensitive_post_parameters("credential")
@engineers_page
@fresh_page
def credential(request: HttpRequest, upstream: UUID) -> HttpResponse:
    """The credential is in this request and in no answer. GET leads back, for who proved who they are in between."""
    found, form = platform_upstream(upstream), CredentialForm(request.POST)
    if request.method != "POST":
        return redirect("console:platform_upstream", found.row.id)
    context = _context(found) | {"credential_form": form}
    if not form.is_valid():
        return render(request, ONE, context, status=422)
    try:
        services.set_credential(found.row.id, form.cleaned_data["credential"], by=_by(request))
    except Refused as refused:
        return refused_page(request, ONE, context, refused.refusal)
    messages.success(request, _("The credential is set."))
    return redirect("console:platform_upstream", found.row.id)


@require_POST
@engineers_page
def try_out(request: HttpRequest, upstream: UUID) -> HttpResponse:
    found = platform_upstream(upstream)
    try:
        services.ask_trial(found.row.id, by=_by(request))
    except Refused as refused:
        return refused_page(request, ONE, _context(found), refused.refusal)
    messages.info(request, _("The call is being made. Load this page again in a few seconds."))
    return redirect("console:platform_upstream", found.row.id)


@require_http_methods(["GET", "HEAD", "POST"])
@engineers_page
@fresh_page
def retire(request: HttpRequest, upstream: UUID) -> HttpResponse:
    found = platform_upstream(upstream)
    if request.method == "POST":
        try:
            services.retire_upstream(found.row.id, by=_by(request))
        except Refused as refused:
            return refused_page(request, RETIRE, {"view": found}, refused.refusal)
        return redirect("console:platform_upstreams")
    return render(request, RETIRE, {"view": found})


def _by(request: HttpRequest) -> Actor:
    return actor_for(signed_in(request), channel="web")


def _context(found: UpstreamView) -> dict[str, object]:
    return {"view": found, "credential_form": CredentialForm()}
