"""Pages of an organisation's members: list, invite, change, leave, accept."""

from __future__ import annotations

import uuid

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from accounts.access import fresh_page, fresh_to_change, member_page, person_page
from accounts.members import mail, queries, services
from accounts.members.forms import InvitationForm, RoleForm
from accounts.members.refusals import WORDS, MemberRefused, Reason
from accounts.models import Membership
from accounts.services import actor_for
from accounts.views import membership_in, signed_in
from audit.events import Actor

REFUSED_STATUS = 409
KEY = "key"
"""The part of the query that holds an invitation's secret: the log of requests has paths, and no queries."""


def _actor(request: HttpRequest) -> Actor:
    return actor_for(signed_in(request), channel="web", organisation=membership_in(request).organisation)


def _member(request: HttpRequest, member: uuid.UUID) -> Membership:
    found = queries.member_of(membership_in(request).organisation, member)
    if found is None:
        raise Http404
    return found


def _page(
    request: HttpRequest, form: InvitationForm | None, *, status: int = 200, refused: str = ""
) -> HttpResponse:
    own = membership_in(request)
    is_owner = own.role == Membership.Role.OWNER
    context = {
        "membership": own,
        "is_owner": is_owner,
        "may_leave": not queries.is_only_owner(own),
        "members": queries.members_of(own.organisation),
        "invitations": queries.open_invitations(own.organisation) if is_owner else [],
        "form": (form or InvitationForm()) if is_owner else None,
        "refused": refused,
    }
    return render(request, "accounts/members.html", context, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
@member_page
@fresh_to_change
def members(request: HttpRequest) -> HttpResponse:
    """Who belongs to the organisation; owners invite here."""
    if request.method != "POST":
        return _page(request, None)
    form = InvitationForm(request.POST)
    if not form.is_valid():
        return _page(request, form, status=422)
    organisation, inviter = membership_in(request).organisation, signed_in(request)
    address = form.cleaned_data["address"]
    try:
        row, secret = services.invite(
            organisation, address, form.cleaned_data["role"], inviter=inviter, by=_actor(request)
        )
    except MemberRefused as refused:
        return _page(request, form, status=REFUSED_STATUS, refused=str(refused))
    link = request.build_absolute_uri(f"{reverse('accounts:invitation')}?{KEY}={secret}")
    mail.send_invitation(row, link, address=address, inviter=inviter)
    messages.success(request, _("The invitation is on its way. It is valid for 7 days."))
    return redirect("accounts:members")


@require_http_methods(["GET", "HEAD", "POST"])
@member_page
@fresh_page
def member(request: HttpRequest, member: uuid.UUID) -> HttpResponse:
    """One member's role; owners change it."""
    found = _member(request, member)
    form = RoleForm(request.POST or None, initial={"role": found.role})
    context = {"member": found, "membership": membership_in(request), "form": form}
    if request.method == "POST" and form.is_valid():
        try:
            services.set_role(found, form.cleaned_data["role"], by=_actor(request))
        except MemberRefused as refused:
            form.add_error(None, str(refused))
            return render(request, "accounts/member.html", context, status=REFUSED_STATUS)
        messages.success(request, _("The role is changed."))
        return redirect("accounts:members")
    return render(request, "accounts/member.html", context, status=422 if form.is_bound else 200)


@require_http_methods(["GET", "HEAD", "POST"])
@member_page
@fresh_page
def end_member(request: HttpRequest, member: uuid.UUID) -> HttpResponse:
    """Leave, or remove somebody, after a page that says what follows."""
    found = _member(request, member)
    own = found.user_id == signed_in(request).pk
    context = {"member": found, "own": own, "refused": "", "only_owner": queries.is_only_owner(found)}
    if request.method != "POST":
        context["refused"] = str(WORDS[Reason.LAST_OWNER]) if context["only_owner"] else ""
        return render(request, "accounts/member_end.html", context)
    try:
        services.end_membership(found, by=_actor(request))
    except MemberRefused as refused:
        context["refused"] = str(refused)
        return render(request, "accounts/member_end.html", context, status=REFUSED_STATUS)
    messages.success(request, _("You have left the organisation.") if own else _("The member is removed."))
    return redirect("accounts:organisation" if own else "accounts:members")


@require_POST
@member_page
@fresh_page
def revoke_invitation(request: HttpRequest, invitation: uuid.UUID) -> HttpResponse:
    found = queries.invitation_of(membership_in(request).organisation, invitation)
    if found is None:
        raise Http404
    try:
        services.revoke_invitation(found, by=_actor(request))
    except MemberRefused as refused:
        return _page(request, None, status=REFUSED_STATUS, refused=str(refused))
    messages.success(request, _("The invitation is withdrawn."))
    return redirect("accounts:members")


@require_http_methods(["GET", "HEAD", "POST"])
@person_page
def invitation(request: HttpRequest) -> HttpResponse:
    """What a mailed link opens: who invites, and the button that accepts."""
    person, secret = signed_in(request), request.GET.get(KEY, "")
    found = queries.invitation_by(secret)
    reason = services.may_accept(found, person) if found else Reason.OVER
    if found is None or reason:
        return _no_invitation(request, reason or Reason.OVER)
    if request.method == "POST":
        try:
            services.accept(secret, person, by=actor_for(person, channel="web"))
        except MemberRefused as refused:
            return _no_invitation(request, refused.reason)
        return redirect("accounts:organisation")
    return render(request, "accounts/invitation.html", {"invitation": found})


def _no_invitation(request: HttpRequest, reason: Reason) -> HttpResponse:
    """Says nothing of the invitation, not even whose it is."""
    context = {"sentence": WORDS[reason], "code": reason.value}
    status = 404 if reason is Reason.OVER else REFUSED_STATUS
    return render(request, "accounts/invitation_refused.html", context, status=status)


@require_POST
@member_page
def choose(request: HttpRequest, member: uuid.UUID) -> HttpResponse:
    """Go on to another organisation that this person belongs to."""
    found = Membership.objects.filter(user=signed_in(request), pk=member).first()
    if found is None:
        raise Http404
    services.choose(found)
    return redirect("accounts:organisation")
