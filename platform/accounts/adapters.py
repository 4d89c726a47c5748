"""How allauth signs people up and in here: with an audit event, never while suspended, and on to the right area."""

from __future__ import annotations

from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import NoReverseMatch, reverse
from django.utils import translation
from django.utils.translation import get_language

from accounts import events, services
from accounts.auditors import term_of
from accounts.models import User
from accounts.queries import membership_of
from accounts.security import devices, factors, sessions
from accounts.security.policies import Standing
from audit import log
from config import clock


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    """Named by ACCOUNT_ADAPTER."""

    def format_email_subject(self, subject: str) -> str:
        return f"[Lingee Bench] {subject}"

    def save_user(self, request: HttpRequest, user: User, form: Any, commit: bool = True) -> User:
        """Creates the account and its event in one transaction."""
        user.language = get_language() or user.language
        if not commit:
            return super().save_user(request, user, form, commit=False)
        with transaction.atomic():
            saved: User = super().save_user(request, user, form, commit=True)
            log.append(
                events.UserCreated(subject=saved.pseudonym), by=services.actor_for(saved, channel="web")
            )
        return saved

    def set_password(self, user: User, password: str) -> None:
        """A new password, chosen in a session or by a link that was mailed to the person."""
        services.set_password(user, password, by=services.actor_for(user, channel="web"))
        user.refresh_from_db(fields=["password"])

    def pre_login(self, request: HttpRequest, user: User, **kwargs: Any) -> HttpResponse | None:
        """A suspended person gets no session, and is told why."""
        if user.is_suspended:
            return redirect("accounts:suspended")
        answer: HttpResponse | None = super().pre_login(request, user, **kwargs)
        return answer

    def login(self, request: HttpRequest, user: User) -> None:
        """As the library's; the session is listed, and it is noted whether somebody had signed in before."""
        request.is_first_sign_in = user.last_login is None  # type: ignore[attr-defined]
        super().login(request, user)
        sessions.begin(request, user)

    def post_login(self, request: HttpRequest, user: User, **kwargs: Any) -> HttpResponse:
        """A browser that this person never signed in with is told to them by mail, and remembered."""
        answer: HttpResponse = super().post_login(request, user, **kwargs)
        if not devices.is_known(request, user.pk) and not getattr(request, "is_first_sign_in", True):
            self._tell_of_device(request, user)
        devices.remember(request, answer, user.pk)
        return answer

    def _tell_of_device(self, request: HttpRequest, user: User) -> None:
        context = {"device": devices.name_of(request), "at": clock.now()}
        with translation.override(user.language):
            self.send_mail("accounts/email/new_device", user.email, context)

    def is_reauthentication_required(self, *, app: str) -> bool:
        """Not where whoever sits there has just proved who they are, be it by signing in; but where that was without
        the second factor that they have, which who holds the password alone could else replace by their own.
        """
        return not factors.is_fresh(self.request) or self._is_half_signed_in()

    def get_reauthentication_methods(self, user: Any) -> list[dict[str, Any]]:
        """Only by the second factor where there is one and this session has not shown it."""
        found: list[dict[str, Any]] = super().get_reauthentication_methods(user)
        if user.is_authenticated and self._is_half_signed_in():
            return [method for method in found if method["id"].startswith("mfa_")]
        return found

    def _is_half_signed_in(self) -> bool:
        return factors.standing_of(self.request) is Standing.UNUSED

    def get_login_redirect_url(self, request: HttpRequest) -> str:
        """Staff to the console where this process has one, members to their area, others to create theirs."""
        user = request.user
        if not isinstance(user, User):
            return reverse("leaderboard:overview")
        if user.is_staff and (console := _page("console:submissions")):
            return console
        if (explorer := _page("auditing:explorer")) and term_of(user):
            return explorer
        return reverse("leaderboard:home" if membership_of(user) else "accounts:organisation")

    def get_logout_redirect_url(self, request: HttpRequest) -> str:
        """The overview in the language of the page that was left."""
        return reverse("leaderboard:overview")


def _page(name: str) -> str:
    """The page's address; empty where this process does not serve it."""
    try:
        return reverse(name)
    except NoReverseMatch:
        return ""
