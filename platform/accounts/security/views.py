"""Enrolling a second factor, by allauth's pages with a picture of our own origin, and the list of sessions."""

from __future__ import annotations

import uuid
from typing import Any

from allauth.account.internal.flows.login import record_authentication
from allauth.mfa.adapter import get_adapter
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.views import GenerateRecoveryCodesView
from allauth.mfa.totp.internal.auth import SECRET_SESSION_KEY
from allauth.mfa.totp.views import ActivateTOTPView, DeactivateTOTPView
from allauth.mfa.webauthn.views import AddWebAuthnView, RemoveWebAuthnView
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from qrcode.image.svg import SvgPathFillImage
from qrcode.main import QRCode

from accounts.access import AFTER_ENROLMENT, fresh_page, person_page
from accounts.security import erasure, sessions
from accounts.security.models import SignIn
from accounts.security.refusals import ErasureRefused, Reason
from accounts.security.services import recording
from accounts.services import actor_for
from accounts.views import signed_in


def _proved(request: HttpRequest, type_: str) -> None:
    """Whoever enrols a factor has just used it: this session counts as signed in with it."""
    user = signed_in(request)
    newest = Authenticator.objects.filter(user=user, type=type_).order_by("-pk").first()
    record_authentication(request, user, "mfa", type=type_, id=newest.pk if newest else None)


class Recorded:
    """Before a view of the library: what its form changes about second factors is in the log, or does not happen."""

    request: HttpRequest

    def form_valid(self, form: Any) -> HttpResponse:
        person = signed_in(self.request)
        with recording(person, by=actor_for(person, channel="web")):
            answer: HttpResponse = super().form_valid(form)  # type: ignore[misc]
        return answer


class ActivateTotp(Recorded, ActivateTOTPView):  # type: ignore[misc]
    def form_valid(self, form: Any) -> HttpResponse:
        answer = super().form_valid(form)
        _proved(self.request, Authenticator.Type.TOTP)
        return answer


class AddPasskey(Recorded, AddWebAuthnView):  # type: ignore[misc]
    def form_valid(self, form: Any) -> HttpResponse:
        answer = super().form_valid(form)
        _proved(self.request, Authenticator.Type.WEBAUTHN)
        return answer


class DeactivateTotp(Recorded, DeactivateTOTPView):  # type: ignore[misc]
    pass


class RemovePasskey(Recorded, RemoveWebAuthnView):  # type: ignore[misc]
    pass


class MakeRecoveryCodes(Recorded, GenerateRecoveryCodesView):  # type: ignore[misc]
    pass


activate_totp = person_page(ActivateTotp.as_view())
deactivate_totp = person_page(DeactivateTotp.as_view())
add_passkey = person_page(AddPasskey.as_view())
remove_passkey = person_page(RemovePasskey.as_view())
make_recovery_codes = person_page(MakeRecoveryCodes.as_view())


@require_safe
@person_page
def totp_picture(request: HttpRequest) -> HttpResponse:
    """The secret that the form beside it is about, for an app's camera. Only while it is being set up."""
    secret = request.session.get(SECRET_SESSION_KEY)
    if not secret:
        raise Http404
    code = QRCode(image_factory=SvgPathFillImage)
    code.add_data(get_adapter().build_totp_url(signed_in(request), secret))
    return HttpResponse(code.make_image().to_string(), content_type="image/svg+xml")


@require_POST
@person_page
def enrolled(request: HttpRequest) -> HttpResponse:
    """On to the page that had asked for a second factor."""
    return redirect(request.session.pop(AFTER_ENROLMENT, "") or "mfa_index")


@require_safe
@person_page
def session_list(request: HttpRequest) -> HttpResponse:
    """Where this person is signed in."""
    rows = sessions.listed(signed_in(request))
    context = {"rows": rows, "here": request.session.session_key}
    return render(request, "accounts/sessions.html", context)


@require_POST
@person_page
def end_session(request: HttpRequest, session: uuid.UUID) -> HttpResponse:
    found = SignIn.objects.filter(user=signed_in(request), pk=session).first()
    if found is None:
        raise Http404
    sessions.end(found, by=actor_for(found.user, channel="web"))
    messages.success(request, _("That session is ended."))
    return redirect("accounts:sessions")


@require_POST
@person_page
def end_sessions(request: HttpRequest) -> HttpResponse:
    """All but this one."""
    person, here = signed_in(request), str(request.session.session_key)
    sessions.end_others(person, but=here, by=actor_for(person, channel="web"))
    messages.success(request, _("All other sessions are ended."))
    return redirect("accounts:sessions")


@require_http_methods(["GET", "HEAD", "POST"])
@person_page
@fresh_page
def erase(request: HttpRequest) -> HttpResponse:
    """Ask to be erased, after a page that says what follows; or take it back."""
    person = signed_in(request)
    asked = erasure.request_of(person)
    refusal = str(ErasureRefused(Reason.SOLE_OWNER)) if erasure.is_needed(person) else ""
    context = {"asked": asked, "refusal": refusal}
    if request.method != "POST":
        return render(request, "accounts/erase.html", context)
    by = actor_for(person, channel="web")
    if asked is not None:
        erasure.withdraw(person, by=by)
        messages.success(request, _("You no longer ask to be erased."))
        return redirect("accounts:erase")
    try:
        erasure.ask(person, by=by)
    except ErasureRefused as refused:
        return render(request, "accounts/erase.html", {**context, "refusal": str(refused)}, status=409)
    return redirect("accounts:erase")
