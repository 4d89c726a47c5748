"""Notes when a listed session was last seen, and keeps the suspended from the library's pages."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from accounts.access import stopped
from accounts.security import sessions

LIBRARY = ("account_", "mfa_")
SIGN_OUT = "account_logout"


class SeenSessions:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        # No cookie, no session: nothing is read for the public.
        if request.session.session_key and request.user.is_authenticated:
            sessions.see(request)
        return self.get_response(request)


class LibraryPages:
    """A suspended person with a live session gets no page of the library's but the sign-out.

    Our own pages have their guards (`accounts.access`); the views of the library that signs people in have none.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_view(self, request: HttpRequest, *_view: object) -> HttpResponse | None:
        name = request.resolver_match.view_name if request.resolver_match else ""
        if name == SIGN_OUT or not name.startswith(LIBRARY) or not request.user.is_authenticated:
            return None
        return stopped(request)
