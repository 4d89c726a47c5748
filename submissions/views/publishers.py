"""Trusted publishers: whose CI jobs may act for a harness, without a secret that anybody keeps."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from accounts.access import fresh_page, member_page, strong_page
from accounts.publishing.queries import issuers_for
from accounts.views import membership_in, signed_in
from submissions import queries
from submissions.problems import Refused
from submissions.publisherform import PublisherForm
from submissions.queries import publishing as reads
from submissions.services import publishing
from submissions.views.common import actor, form_status, refused_page


@require_safe
@member_page
def publisher_list(request: HttpRequest) -> HttpResponse:
    rows = [
        {"publisher": row, "harness": name, "state": "active" if row.ended_at is None else "removed"}
        for row, name in reads.named_publishers(membership_in(request).organisation)
    ]
    context = {"rows": rows, "audience": settings.OIDC_AUDIENCE}
    return render(request, "submissions/publishers.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@member_page
@strong_page
@fresh_page
def new_publisher(request: HttpRequest) -> HttpResponse:
    organisation = membership_in(request).organisation
    harnesses = queries.harnesses_of(organisation)
    form = PublisherForm(request.POST or None, harnesses=harnesses, issuers=issuers_for(organisation))
    context: dict[str, Any] = {"form": form, "harnesses": harnesses}
    if request.method == "POST" and form.is_valid():
        fields = dict(form.cleaned_data)
        harness = queries.harness_of(organisation, UUID(fields.pop("harness")))
        try:
            publishing.register(harness, fields, person=signed_in(request), by=actor(request))
        except Refused as refused:
            if not form.takes(refused.refusal):
                return refused_page(request, "submissions/publisher_new.html", context, refused.refusal)
        else:
            return redirect("submissions:publishers")
    return render(request, "submissions/publisher_new.html", context, status=form_status(form))


@require_http_methods(["GET", "HEAD", "POST"])
@member_page
@strong_page
@fresh_page
def remove_publisher(request: HttpRequest, publisher: UUID) -> HttpResponse:
    found = reads.own_publisher(membership_in(request).organisation, publisher)
    context = {"publisher": found, "harness": reads.harness_names([found])[found.harness_id]}
    if request.method == "POST":
        try:
            publishing.remove(found, person=signed_in(request), by=actor(request))
        except Refused as refused:
            return refused_page(request, "submissions/publisher_remove.html", context, refused.refusal)
        return redirect("submissions:publishers")
    return render(request, "submissions/publisher_remove.html", context)
