"""A crawler over everything that the vendor site can answer, as one of several visitors."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urljoin, urlsplit

import httpx
from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore
from django.urls import Resolver404, get_resolver, resolve

from accounts.models import User
from accounts.security.services import ensure_totp
from tests.pages.site import proofs

LANGUAGES = ("zh-hans", "en")
LINK = re.compile(r"""(?:href|src|action|hx-get)="([^"#]+)""")
WALKED = 600
"""Most addresses that following links may visit; the site has far fewer."""
WRITES: dict[str, dict[str, str] | None] = {"POST": {}, "PUT": {}, "DELETE": None, "OPTIONS": None}


@dataclass(frozen=True)
class Answer:
    """One answer with all that reaches the other side of it."""

    visitor: str
    method: str
    address: str
    status: int
    text: str


@dataclass
class Visitor:
    """Somebody at the site: anonymous, by session cookie, or by token."""

    name: str
    address: str
    headers: Mapping[str, str] = field(default_factory=dict)
    cookies: Mapping[str, str] = field(default_factory=dict)
    below: str = "/"
    """Where this visitor goes: other addresses do not look at what it shows."""

    def __post_init__(self) -> None:
        self.client = httpx.Client(
            base_url=self.address, headers=dict(self.headers), cookies=dict(self.cookies), timeout=60
        )

    def ask(self, method: str, path: str, **more: Any) -> Answer:
        answer = self.client.request(method, path, **more)
        lines = "\n".join(f"{name}: {value}" for name, value in answer.headers.items())
        return Answer(self.name, method, path, answer.status_code, f"{lines}\n\n{answer.text}")


def session_of(user: User) -> dict[str, str]:
    """The cookie of a session signed in with a second factor."""
    ensure_totp(user)
    session = SessionStore()
    session[SESSION_KEY] = str(user.pk)
    session[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[-1]
    session[HASH_SESSION_KEY] = user.get_session_auth_hash()
    session.update(proofs(user, "password", "mfa"))
    session.create()
    return {settings.SESSION_COOKIE_NAME: str(session.session_key)}


def addresses() -> Iterator[tuple[str, str]]:
    """Name and pattern of every address of the vendor site; the console is another process."""
    for name, pattern, module in _walk(get_resolver()):
        if ".console" not in module and "admin" not in module:
            yield name, pattern


def _walk(resolver: Any, before: str = "") -> Iterator[tuple[str, str, str]]:
    for entry in resolver.url_patterns:
        pattern = before + str(entry.pattern)
        if hasattr(entry, "url_patterns"):
            module = getattr(entry.urlconf_name, "__name__", "")
            if "console" not in module:
                yield from _walk(entry, pattern)
        else:
            yield str(entry.name), pattern, str(getattr(entry.callback, "__module__", ""))


def name_of(path: str) -> str | None:
    """The name of the address that answers for a path; None where it is nobody's (static files, errors)."""
    try:
        return resolve(urlsplit(path).path).url_name
    except Resolver404:
        return None


def follow_links(visitor: Visitor, start: list[str]) -> Iterator[Answer]:
    """Every page that can be reached by links from `start`, within the site."""
    seen, waiting = set(start), deque(start)
    while waiting and len(seen) < WALKED:
        path = waiting.popleft()
        answer = visitor.ask("GET", path)
        yield answer
        for link in LINK.findall(answer.text):
            target = urlsplit(urljoin(f"{visitor.address}{path}", link.replace("&amp;", "&")))
            found = target.path + (f"?{target.query}" if target.query else "")
            ours = f"{target.scheme}://{target.netloc}" == visitor.address and "logout" not in found
            if ours and found not in seen and not found.startswith("/static/"):
                seen.add(found)
                waiting.append(found)


def every_method(visitor: Visitor, path: str) -> Iterator[Answer]:
    """GET and HEAD with odd queries, and all writing methods with an empty body, to see the errors too."""
    if not path.startswith(visitor.below):
        return
    yield visitor.ask("GET", path)
    yield visitor.ask("GET", path, params={"page": "9999", "state": "x", "before": "x", "sort": "score"})
    yield visitor.ask("GET", path, headers={"Accept": "text/csv"})
    for method, body in WRITES.items():
        yield visitor.ask(method, path, json=body) if body is not None else visitor.ask(method, path)
