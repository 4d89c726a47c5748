"""Small guards in front of every view."""

from __future__ import annotations

from collections.abc import Callable

from django.http import Http404, HttpRequest, HttpResponse

NUL = "\x00"
API = "/api/"
"""Answers for itself, in its own shape."""


class NoNul:
    """An address with a NUL is nobody's: PostgreSQL has no such text, so no row can be meant by it."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if NUL in request.path_info and not request.path_info.startswith(API):
            raise Http404
        return self.get_response(request)
