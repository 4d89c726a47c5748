"""A person's own pages: their organisation, and what a suspended account sees."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from accounts import queries, services
from accounts.access import never_cached, person_page
from accounts.duties.refusals import DutyRefused
from accounts.members.queries import invites, members_of, other_memberships
from accounts.models import Membership, User
from accounts.registration.forms import NewOrganisationForm
from accounts.registration.queries import status_of
from accounts.registration.refusals import RegistrationRefused
from accounts.registration.services import found_organisation


def signed_in(request: HttpRequest) -> User:
    """The person of this request; the guards have made sure there is one."""
    assert isinstance(request.user, User)
    return request.user


def membership_in(request: HttpRequest) -> Membership:
    """The membership that `member_page` found."""
    found: Membership = request.membership  # type: ignore[attr-defined]
    return found


@require_safe
def suspended(request: HttpRequest) -> HttpResponse:
    return never_cached(render(request, "accounts/suspended.html", status=403))


@require_http_methods(["GET", "HEAD", "POST"])
@person_page
def organisation(request: HttpRequest) -> HttpResponse:
    """The person's organisation and what happens next; the form to create one where there is none."""
    user = signed_in(request)
    membership = queries.membership_of(user)
    if membership is not None:
        context = {
            "membership": membership,
            "members": members_of(membership.organisation),
            "others": other_memberships(user, membership),
            "status": status_of(membership.organisation),
        }
        return render(request, "accounts/organisation.html", context)
    form = NewOrganisationForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        by = services.actor_for(user, channel="web")
        try:
            found_organisation(
                form.cleaned_data["name"],
                rules_version=form.cleaned_data["rules_version"],
                owner=user,
                by=by,
            )
        except (DutyRefused, RegistrationRefused) as refused:
            form.add_error(None, str(refused))
        else:
            return redirect("accounts:organisation")
    context = {"form": form, "is_invited": invites(user)}
    return render(request, "accounts/organisation_new.html", context)
