"""Changes of sessions: they begin, are seen, and are ended by their person or with the access of that person."""

from __future__ import annotations

from datetime import timedelta

from django.contrib.sessions.models import Session
from django.db import transaction
from django.http import HttpRequest

from accounts.models import User
from accounts.security.devices import name_of
from accounts.security.models import SignIn
from config import clock

SEEN_EVERY = timedelta(minutes=5)
"""How exactly the last sight of a session is known: a write for each request would cost too much."""
SEEN = "seen_at"


def begin(request: HttpRequest, user: User) -> None:
    """Right after sign-in, when the session has its new key."""
    if not request.session.session_key:
        request.session.save()
    key = str(request.session.session_key)
    SignIn.objects.update_or_create(session_key=key, defaults={"user": user, "device": name_of(request)})
    request.session[SEEN] = clock.now().timestamp()


def see(request: HttpRequest) -> None:
    """A request of a session that is listed; noted every five minutes."""
    seen, now = request.session.get(SEEN), clock.now()
    if seen is None or now.timestamp() - seen < SEEN_EVERY.total_seconds():
        return
    request.session[SEEN] = now.timestamp()
    SignIn.objects.filter(session_key=request.session.session_key).update(seen_at=now)


def listed(user: User) -> list[SignIn]:
    """Those that still are, the last seen first; what is over is forgotten here."""
    rows = list(SignIn.objects.filter(user=user).order_by("-seen_at"))
    keys = [row.session_key for row in rows]
    live = set(
        Session.objects.filter(session_key__in=keys, expire_date__gt=clock.now()).values_list(
            "session_key", flat=True
        )
    )
    SignIn.objects.filter(user=user).exclude(session_key__in=live).delete()
    return [row for row in rows if row.session_key in live]


def end(row: SignIn) -> None:
    with transaction.atomic():
        Session.objects.filter(session_key=row.session_key).delete()
        row.delete()


def end_all(user: User, *, but: str = "") -> None:
    """Every session of this person, except the one with the key `but`."""
    with transaction.atomic():
        rows = SignIn.objects.filter(user=user).exclude(session_key=but)
        Session.objects.filter(session_key__in=list(rows.values_list("session_key", flat=True))).delete()
        rows.delete()
