"""Small guards in front of every view."""

from __future__ import annotations

import re
from collections.abc import Callable

from django.conf import settings
from django.core.exceptions import MiddlewareNotUsed
from django.http import Http404, HttpRequest, HttpResponse

NUL = "\x00"
API = "/api/"
"""Answers for itself, in its own shape."""
VENDORS = re.compile(r"^/(?:api/|[a-z-]+/(?:v/|account/(?:signup|members|invitation)))")


class NoNul:
    """An address with a NUL is nobody's, and a cookie with one not ours: PostgreSQL has no such text, so no row can
    be meant by it.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if NUL in request.path_info and not request.path_info.startswith(API):
            raise Http404
        for name in [name for name, value in request.COOKIES.items() if NUL in value]:
            del request.COOKIES[name]  # quoted, it passes every server
        return self.get_response(request)


class StaffOnly:
    """In the console's process the vendors' area and sign-up do not exist: staff work there, and nobody else."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        if settings.LINGEE_ROLE != "console":
            raise MiddlewareNotUsed
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if VENDORS.match(request.path_info):
            raise Http404
        return self.get_response(request)
