"""Changes of sessions: they begin, are seen, and are ended by their person or with the access of that person."""

from __future__ import annotations

from datetime import timedelta

from django.contrib.sessions.models import Session
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest

from accounts import events
from accounts.models import User
from accounts.security.devices import name_of
from accounts.security.models import SignIn
from audit import log
from audit.events import Actor
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


def end(row: SignIn, *, by: Actor) -> None:
    """One that its person chose from the list; ended already, it changes nothing."""
    _end_listed(row.user, SignIn.objects.filter(pk=row.pk), by)


def end_others(user: User, *, but: str, by: Actor) -> None:
    """Every session of this person, except the one with the key `but`."""
    _end_listed(user, SignIn.objects.filter(user=user).exclude(session_key=but), by)


def _end_listed(user: User, rows: QuerySet[SignIn], by: Actor) -> None:
    with transaction.atomic():
        if ended := _end(rows):
            log.append(events.SessionsEnded(subject=user.pseudonym, sessions=ended), by=by)


def end_all(user: User) -> None:
    """Every session of this person. The caller's event says why."""
    with transaction.atomic():
        _end(SignIn.objects.filter(user=user))


def _end(rows: QuerySet[SignIn]) -> int:
    """How many there were."""
    keys = list(rows.select_for_update().values_list("session_key", flat=True))
    Session.objects.filter(session_key__in=keys).delete()
    SignIn.objects.filter(session_key__in=keys).delete()
    return len(keys)
