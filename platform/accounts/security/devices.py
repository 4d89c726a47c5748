"""Which browsers somebody has signed in with: remembered by the browser itself, in a signed cookie."""

from __future__ import annotations

import re
from uuid import UUID

from django.conf import settings
from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.utils.crypto import salted_hmac

COOKIE = "device"
SALT = "accounts.security.devices"
REMEMBERED = 365 * 24 * 3600  # seconds
MOST = 10
"""People that one browser remembers."""
LONGEST = 80  # characters of a device's name
BROWSERS = (
    ("Edge", r"\bEdg"),
    ("Opera", r"\bOPR/"),
    ("Firefox", r"\bFirefox/"),
    ("Chromium", r"(Chrome|Chromium|CriOS)/"),
    ("Safari", r"\bSafari/"),
)
SYSTEMS = (
    ("Android", r"Android"),
    ("iOS", r"iPhone|iPad"),
    ("Windows", r"Windows"),
    ("macOS", r"Mac OS X|Macintosh"),
    ("Linux", r"Linux|X11"),
)


def name_of(request: HttpRequest) -> str:
    """As in "Firefox, Linux"; the beginning of what the browser calls itself where no word fits."""
    agent = request.headers.get("User-Agent", "")
    words = [
        next((word for word, pattern in table if re.search(pattern, agent)), "")
        for table in (BROWSERS, SYSTEMS)
    ]
    return (", ".join(word for word in words if word) or agent)[:LONGEST]


def is_known(request: HttpRequest, person: UUID) -> bool:
    return _mark(person) in _marks(request)


def remember(request: HttpRequest, response: HttpResponse, person: UUID) -> None:
    marks = [_mark(person), *(mark for mark in _marks(request) if mark != _mark(person))][:MOST]
    response.set_cookie(
        COOKIE,
        signing.dumps(marks, salt=SALT),
        max_age=REMEMBERED,
        httponly=True,
        samesite="Lax",
        secure=settings.SESSION_COOKIE_SECURE,
    )


def _marks(request: HttpRequest) -> list[str]:
    try:
        found = signing.loads(request.COOKIES.get(COOKIE, ""), salt=SALT, max_age=REMEMBERED)
    except signing.BadSignature:
        return []
    return [str(mark) for mark in found] if isinstance(found, list) else []


def _mark(person: UUID) -> str:
    """Says nothing of the person to whoever reads the cookie."""
    return salted_hmac(SALT, str(person), algorithm="sha256").hexdigest()[:32]
