"""Notes when a listed session was last seen."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from accounts.security import sessions


class SeenSessions:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        # No cookie, no session: nothing is read for the public.
        if request.session.session_key and request.user.is_authenticated:
            sessions.see(request)
        return self.get_response(request)
