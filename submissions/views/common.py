"""What the views share: who acts, and how a refusal is shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.forms import BaseForm
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from accounts.services import actor_for
from accounts.views import membership_in, signed_in
from audit.events import Actor
from submissions.problems import Refusal
from submissions.problems.refusal import SOON


def actor(request: HttpRequest) -> Actor:
    """The person of this request, acting for their organisation."""
    return actor_for(signed_in(request), channel="web", organisation=membership_in(request).organisation)


def form_status(form: BaseForm) -> int:
    """200 for an empty form, 422 for one that was sent and could not be taken."""
    return 422 if form.is_bound else 200


def refused_page(
    request: HttpRequest, template: str, context: Mapping[str, Any], refusal: Refusal
) -> HttpResponse:
    """The same page again with the refusal above it, under the refusal's HTTP status."""
    answer = render(request, template, {**context, "problem": refusal}, status=refusal.status)
    if refusal.code in SOON:
        answer["Retry-After"] = str(SOON[refusal.code])
    return answer
