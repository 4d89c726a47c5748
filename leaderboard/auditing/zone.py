"""One zone for everything on auditors' pages: the log, its filters and its exports speak UTC."""

from __future__ import annotations

from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse

from accounts.access import View
from leaderboard import times


def in_utc(view: View) -> View:
    """For this request the viewer's zone is UTC, whatever they chose for other pages, and the page's foot says so."""

    @wraps(view)
    def shown(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        request.COOKIES = {**request.COOKIES, times.COOKIE: "UTC"}
        return view(request, *args, **kwargs)

    return shown
