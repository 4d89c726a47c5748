"""An organisation's own pages about its registration, and the participation rules that everyone may read."""

from __future__ import annotations

from django import forms
from django.contrib import messages
from django.core.mail import send_mail
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts import services as accounts
from accounts.access import member_page
from accounts.models import Membership
from accounts.queries import membership_of
from accounts.registration import domains, queries, rules, services
from accounts.registration.forms import MailForm, RegistrationForm, RulesForm
from accounts.registration.refusals import Reason, RegistrationRefused
from accounts.registration.shared_domains import is_shared
from accounts.views import membership_in, signed_in
from audit.events import Actor, system
from config.lines import folded

REFUSED = 409
LARGEST_BODY = services.MOST_FILES * services.LARGEST_FILE + 1024 * 1024
"""Bytes of a filing, evidence included."""


def _actor(request: HttpRequest) -> Actor:
    return accounts.actor_for(
        signed_in(request), channel="web", organisation=membership_in(request).organisation
    )


def _refuse(form: forms.Form, refused: RegistrationRefused) -> int:
    form.add_error(None, str(refused))
    return REFUSED


@require_http_methods(["GET", "HEAD", "POST"])
def participation_rules(request: HttpRequest) -> HttpResponse:
    """The rules in force, for anyone; an owner whose organisation has yet to accept them does so here."""
    found, membership = rules.current(), _owner(request)
    form, status = RulesForm(request.POST or None), 200
    if request.method == "POST" and membership is not None and form.is_valid():
        person = signed_in(request)
        by = accounts.actor_for(person, channel="web", organisation=membership.organisation)
        try:
            services.accept_rules(
                membership.organisation, form.cleaned_data["rules_version"], person=person, by=by
            )
        except RegistrationRefused as refused:
            status = _refuse(form, refused)
        else:
            messages.success(request, _("The participation rules are accepted."))
            return redirect("accounts:registration")
    accepted = membership is not None and queries.has_accepted(membership.organisation)
    context = {
        "rules": found,
        "paragraphs": found.paragraphs(get_language() or "en"),
        "form": form if membership is not None and not accepted else None,
        "accepted": accepted,
    }
    return render(request, "accounts/registration/rules.html", context, status=status)


def _owner(request: HttpRequest) -> Membership | None:
    """The membership of a live person who owns an organisation; None for everybody else."""
    if not request.user.is_authenticated or not request.user.is_active or signed_in(request).is_suspended:
        return None
    found = membership_of(signed_in(request))
    return found if found is not None and found.role == Membership.Role.OWNER else None


@require_safe
@member_page
def registration(request: HttpRequest) -> HttpResponse:
    """How the organisation stands, what happens next and by when."""
    membership = membership_in(request)
    found = queries.status_of(membership.organisation)
    context = {"status": found, "membership": membership, "form": MailForm()}
    if found.latest is not None:
        context |= {
            "record_name": domains.record_name(found.latest.domain),
            "record_value": domains.record_value(found.latest.id),
            "mail_counts": not is_shared(found.latest.domain),
        }
    return render(request, "accounts/registration/status.html", context)


@csrf_exempt
@member_page
def new_registration(request: HttpRequest) -> HttpResponse:
    """Its size is looked at before the body is read; the inner view checks the CSRF token."""
    if int(request.META.get("CONTENT_LENGTH") or 0) > LARGEST_BODY:
        form = RegistrationForm()
        form.cleaned_data = {}
        refused = RegistrationRefused(Reason.EVIDENCE_SIZE)
        context = {"form": form, "refusal": str(refused)}
        return render(request, "accounts/registration/new.html", context, status=413)
    return _file(request)


@csrf_protect
@require_http_methods(["GET", "HEAD", "POST"])
def _file(request: HttpRequest) -> HttpResponse:
    form = RegistrationForm(request.POST or None, request.FILES or None)
    status = 422 if form.is_bound else 200
    if request.method == "POST" and form.is_valid():
        organisation = membership_in(request).organisation
        try:
            services.file(organisation, form.filing(), person=signed_in(request), by=_actor(request))
        except RegistrationRefused as refused:
            status = _refuse(form, refused)
        else:
            messages.success(request, _("The registration is filed. Now prove that the domain is yours."))
            return redirect("accounts:registration")
    return render(request, "accounts/registration/new.html", {"form": form}, status=status)


@require_POST
@member_page
def mail_link(request: HttpRequest) -> HttpResponse:
    """Mail a link to an address at the registered domain."""
    row, form = queries.latest_of(membership_in(request).organisation), MailForm(request.POST)
    try:
        services.require_owner(membership_in(request).organisation, signed_in(request))
        if row is None or not row.is_open:
            raise RegistrationRefused(Reason.NOT_FILED)
        if not form.is_valid():
            raise RegistrationRefused(Reason.MAIL_ELSEWHERE)
        address = form.cleaned_data["address"]
        services.may_mail(row, address)
    except RegistrationRefused as refused:
        messages.error(request, str(refused))
        return redirect("accounts:registration")
    place = reverse("accounts:registration_domain", args=[domains.link_token(row.id)])
    text = render_to_string(
        "accounts/registration/mail.txt",
        {"organisation": folded(row.organisation.name), "link": request.build_absolute_uri(place)},
    )
    send_mail(_("[Lingee Bench] Confirm your domain"), text, None, [address])
    messages.success(request, _("The mail is on its way. Its link holds for 24 hours."))
    return redirect("accounts:registration")


@require_POST
@member_page
def look_up_record(request: HttpRequest) -> HttpResponse:
    """Look for the DNS record now."""
    row = queries.latest_of(membership_in(request).organisation)
    try:
        services.require_owner(membership_in(request).organisation, signed_in(request))
        if row is None or not row.is_open:
            raise RegistrationRefused(Reason.NOT_FILED)
        services.confirm_by_dns(row, by=_actor(request))
    except RegistrationRefused as refused:
        messages.error(request, str(refused))
    else:
        messages.success(request, _("The domain is confirmed."))
    return redirect("accounts:registration")


@require_http_methods(["GET", "HEAD", "POST"])
def confirm_domain(request: HttpRequest, token: str) -> HttpResponse:
    """Where the mailed link leads: whoever reads mail at the domain confirms by a button, signed in or not."""
    done = False
    try:
        if domains.registration_of(token) is None:
            raise RegistrationRefused(Reason.LINK_INVALID)
        if request.method == "POST":
            services.confirm_by_link(token, by=system("domain-link"))
            done = True
    except RegistrationRefused as refused:
        context = {"refusal": str(refused)}
        return render(request, "accounts/registration/domain.html", context, status=410)
    return render(request, "accounts/registration/domain.html", {"done": done})
