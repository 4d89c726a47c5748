"""What of version 1 will be gone one day, and how its users are told: `Deprecation` (RFC 9745), `Sunset` (RFC 8594).

Within v1 things are only added. What is to go is listed here, stays for a year at least after it was announced, and
every answer to a request that used it says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.http import http_date

AT_LEAST = timedelta(days=365)
"""Between the announcement and the end."""
RULE = "/api/v1/openapi.json"
"""Where the description marks what is deprecated."""


@dataclass(frozen=True)
class Deprecation:
    """Something that will be gone: since when that is known, until when it works, and what takes its place."""

    what: str
    since: datetime
    until: datetime
    instead: str

    def __post_init__(self) -> None:
        if self.until - self.since < AT_LEAST:
            raise ValueError(f"{self.what} would be gone less than a year after the announcement")

    def headers(self) -> dict[str, str]:
        return {
            "Deprecation": f"@{int(self.since.timestamp())}",
            "Sunset": http_date(self.until.timestamp()),
        }


BEFORE = Deprecation(
    "the query `before` of GET /api/v1/submissions",
    since=datetime(2026, 12, 1, tzinfo=UTC),
    until=datetime(2027, 12, 31, tzinfo=UTC),
    instead="the query `cursor`, or the address in `next`",
)
DEPRECATIONS = (BEFORE,)


def used(request: Any, deprecation: Deprecation) -> None:
    """Note on an API request that it used what will be gone."""
    request._request.deprecation = deprecation


def announce(request: HttpRequest, answer: HttpResponse) -> None:
    """Say so on the answer."""
    found = getattr(request, "deprecation", None)
    if isinstance(found, Deprecation):
        for name, value in found.headers().items():
            answer[name] = value
        add_link(answer, RULE, "deprecation")


def add_link(answer: HttpResponse, address: str, relation: str) -> None:
    """One more link in the Link header (RFC 8288)."""
    link = f'<{address}>; rel="{relation}"'
    answer["Link"] = f"{answer['Link']}, {link}" if answer.has_header("Link") else link
