"""API tokens: list, create (the text is shown once), revoke. An owner sees those of all members, others their own."""

from __future__ import annotations

import uuid

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from accounts import services
from accounts.access import fresh_page, member_page, strong_page
from accounts.forms import TokenForm
from accounts.models import ApiToken, Membership
from accounts.permissions import Credential, Permission, refused
from accounts.tokens.queries import visible_to
from accounts.views import membership_in, signed_in
from config import clock
from submissions.models import Harness
from submissions.problems import Code, Refusal
from submissions.views.common import actor, form_status, refused_page


def token_state(token: ApiToken) -> str:
    """Which word of the status table describes it."""
    if token.revoked_at is not None:
        return "revoked"
    return "active" if token.expiry is not None and token.expiry > clock.now() else "expired"


def may_create(membership: Membership) -> bool:
    """As over the API."""
    return not refused(Permission.TOKEN_WRITE, credential=Credential.SESSION, role=membership.role, scopes=())


@require_safe
@member_page
def token_list(request: HttpRequest) -> HttpResponse:
    membership = membership_in(request)
    harnesses = Harness.objects.filter(organisation=membership.organisation)
    names = dict(harnesses.values_list("id", "title"))
    rows = [
        {
            "token": row,
            "state": token_state(row),
            "harness": names.get(row.harness_id) if row.harness_id else None,
        }
        for row in visible_to(membership)
    ]
    shown = {"rows": rows, "may_create": may_create(membership), "membership": membership}
    return render(request, "submissions/tokens.html", shown)


@require_http_methods(["GET", "HEAD", "POST"])
@member_page
@strong_page
@fresh_page
def new_token(request: HttpRequest) -> HttpResponse:
    """Create a token; its text is in this one answer and nowhere else."""
    organisation = membership_in(request).organisation
    harnesses = Harness.objects.filter(organisation=organisation).order_by("title")
    form = TokenForm(request.POST or None, harnesses=[(str(row.id), row.title) for row in harnesses])
    if not may_create(membership_in(request)):
        refusal = Refusal(Code.ROLE_MAY_NOT_SUBMIT)
        return refused_page(request, "submissions/token_new.html", {"form": form}, refusal)
    if request.method == "POST" and form.is_valid():
        chosen = form.cleaned_data["harness"]
        token, secret = services.issue_token(
            signed_in(request),
            organisation,
            name=form.cleaned_data["name"],
            scopes=form.cleaned_data["scopes"],
            by=actor(request),
            harness_id=uuid.UUID(chosen) if chosen else None,
            lifetime=form.lifetime(),
        )
        return render(request, "submissions/token_created.html", {"token": token, "secret": secret})
    return render(request, "submissions/token_new.html", {"form": form}, status=form_status(form))


@require_http_methods(["GET", "HEAD", "POST"])
@member_page
@fresh_page
def revoke_token(request: HttpRequest, token: uuid.UUID) -> HttpResponse:
    """For its holder and for owners."""
    found = next((row for row in visible_to(membership_in(request)) if row.public_id == token), None)
    if found is None:
        raise Http404
    if request.method == "POST":
        services.revoke_token(found, by=actor(request))
        return redirect("submissions:tokens")
    return render(request, "submissions/token_revoke.html", {"token": found})
