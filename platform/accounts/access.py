"""Who may open a page: decorators for views. Every decision reads the database, so a suspension bites at once."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from allauth.core.exceptions import ReauthenticationRequired
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.cache import patch_cache_control
from django.utils.translation import gettext as _

from accounts.auditors import term_of
from accounts.duties.policies import takes_part
from accounts.duties.queries import duties_of
from accounts.duties.table import Decision, Duty
from accounts.models import AuditorTerm, Membership, User
from accounts.queries import membership_of
from accounts.security import factors
from accounts.security.policies import Standing

View = Callable[..., HttpResponse]
CONSOLE_ROLES = ("console", "test")
AFTER_ENROLMENT = "after_enrolment"
"""In a session: the address that asked for a second factor, to go on to once there is one."""


class MemberRequest(HttpRequest):
    """A request whose person is a member of an organisation; for type checkers only."""

    membership: Membership


class AuditorRequest(HttpRequest):
    """A request whose person is an auditor; for type checkers only."""

    term: AuditorTerm


def never_cached(response: HttpResponse) -> HttpResponse:
    """Nothing of a person's pages is kept by browsers or anything between."""
    patch_cache_control(response, private=True, no_store=True)
    return response


def stopped(request: HttpRequest) -> HttpResponse | None:
    """The answer to a stranger or a suspended person; None where the person may go on."""
    if not request.user.is_authenticated:
        return redirect_to_login(request.get_full_path(), login_url="account_login")
    if getattr(request.user, "is_suspended", False) or not request.user.is_active:
        return never_cached(render(request, "accounts/suspended.html", status=403))
    return None


def person_page(view: View) -> View:
    """For anyone signed in whose account is live."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        return stopped(request) or never_cached(view(request, *args, **kwargs))

    return guarded


def _weak(request: HttpRequest) -> HttpResponse | None:
    """Leads on whoever is not signed in with a second factor; None where the person may go on."""
    standing = factors.standing_of(request)
    if standing is Standing.STRONG:
        return None
    if standing is Standing.UNUSED:
        there = redirect_to_login(request.get_full_path(), login_url="mfa_reauthenticate")
    else:
        messages.warning(
            request,
            _(
                "That page needs a second step at sign-in. Set up an authenticator app or a passkey here; you "
                "are led back afterwards."
            ),
        )
        request.session[AFTER_ENROLMENT] = request.get_full_path()
        there = redirect("mfa_index")
    return never_cached(there)


def strong_page(view: View) -> View:
    """Inside one of the other guards: only in a session signed in with a second factor. Others are led to have one."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        return _weak(request) or view(request, *args, **kwargs)

    return guarded


def fresh_page(view: View) -> View:
    """Inside one of the other guards: whoever has not proved who they are for 15 minutes does so first."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not factors.is_fresh(request):
            raise ReauthenticationRequired
        return view(request, *args, **kwargs)

    return guarded


def fresh_to_change(view: View) -> View:
    """As `fresh_page`, for pages that may be looked at without: only what changes something asks."""
    return _to_change(view, fresh_page(view))


def strong_to_change(view: View) -> View:
    """As `strong_page`, for pages that may be looked at without."""
    return _to_change(view, strong_page(view))


def _to_change(view: View, demanding: View) -> View:
    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        return (view if request.method in ("GET", "HEAD") else demanding)(request, *args, **kwargs)

    return guarded


def member_page(view: View) -> View:
    """For members of an organisation; sets `request.membership`. Others are led to create or join one."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if answer := stopped(request):
            return answer
        membership = membership_of(request.user)  # type: ignore[arg-type]
        if membership is None:
            messages.info(request, _("These pages belong to an organisation. Create yours first."))
            return redirect("accounts:organisation")
        request.membership = membership  # type: ignore[attr-defined]
        return never_cached(view(request, *args, **kwargs))

    return guarded


def staff_page(view: View) -> View:
    """For staff, in the console's own process only: elsewhere, and for others, there is no such page."""
    return _console_page(view, lambda request: getattr(request.user, "is_staff", False))


def deciding_page(decision: Decision) -> Callable[[View], View]:
    """For staff who may propose or approve such a decision; for other staff there is no such page."""

    def may_enter(request: HttpRequest) -> bool:
        person = request.user
        return isinstance(person, User) and person.is_staff and takes_part(duties_of(person), decision)

    return lambda view: _console_page(view, may_enter)


def duty_page(duty: Duty) -> Callable[[View], View]:
    """For staff who hold the duty; for other staff there is no such page."""

    def may_enter(request: HttpRequest) -> bool:
        person = request.user
        return isinstance(person, User) and person.is_staff and duty in duties_of(person)

    return lambda view: _console_page(view, may_enter)


def auditor_page(view: View) -> View:
    """For auditors within their term, in the console's own process only; sets `request.term`.

    There, and not where vendors are served, because only there is the database also open as the auditor's role.
    """

    def within_term(request: HttpRequest) -> bool:
        request.term = term_of(request.user)  # type: ignore[attr-defined,arg-type]
        return request.term is not None  # type: ignore[attr-defined]

    return _console_page(view, within_term)


def _console_page(view: View, may_enter: Callable[[HttpRequest], bool]) -> View:
    """A page of the console's process for whom `may_enter` admits; for all others there is none.

    An auditor whom the address of a staff page brought to the sign-in is led on to the auditors' pages.
    """

    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if settings.LINGEE_ROLE not in CONSOLE_ROLES:
            raise Http404
        if answer := stopped(request):
            return answer
        if not may_enter(request):
            if request.method in ("GET", "HEAD") and term_of(request.user):  # type: ignore[arg-type]
                return never_cached(redirect("auditing:explorer"))
            raise Http404
        return _weak(request) or never_cached(view(request, *args, **kwargs))

    return guarded
