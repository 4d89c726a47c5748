"""Every change to tokens: one transaction each, with its audit event."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Q, QuerySet
from knox.crypto import hash_token
from knox.settings import CONSTANTS

from accounts import events
from accounts.models import ApiToken, LeakReport, Membership, Organisation, User
from accounts.notices.kinds import Kind
from accounts.notices.services import notify
from accounts.security import factors
from accounts.tokens.queries import MARKS, ends_soon, mark_reached, with_digest
from accounts.tokens.text import new_text
from audit import log
from audit.canonical import timestamp
from audit.events import Actor, system
from config import clock
from config.lines import folded

TOKEN_LIFETIME = timedelta(days=90)
"""Longest life of a personal token."""
USE_GRAIN = timedelta(minutes=1)
"""How exactly the last use is kept."""
BY_REPORT = system("leak report")


def issue_token(
    user: User,
    organisation: Organisation,
    *,
    name: str,
    scopes: Sequence[str],
    by: Actor,
    harness_id: UUID | None = None,
    lifetime: timedelta = TOKEN_LIFETIME,
) -> tuple[ApiToken, str]:
    """A new token and its secret text, which is shown this once and never stored.

    Raises factors.FactorMissing for somebody without a second factor, PermissionDenied where the person was suspended,
    left or changed the password since `user` was read: what ended all tokens then ends this one too.
    """
    factors.require_enrolled(user.pk)
    text, lifetime = new_text(), min(lifetime, TOKEN_LIFETIME)
    with transaction.atomic():
        Organisation.objects.select_for_update(no_key=True).get(pk=organisation.pk)  # nobody leaves meanwhile
        now = User.objects.select_for_update(no_key=True).get(pk=user.pk)
        if now.is_suspended or not now.is_active or now.password != user.password:
            raise PermissionDenied
        if not Membership.objects.filter(user=now, organisation=organisation).exists():
            raise PermissionDenied
        token = ApiToken(
            digest=hash_token(text),
            token_key=text[: CONSTANTS.TOKEN_KEY_LENGTH],
            user=user,
            expiry=clock.now() + lifetime,
            organisation=organisation,
            name=folded(name),
            scopes=sorted(scopes),
            harness_id=harness_id,
            announced_days=_behind_from_the_start(lifetime),
        )
        token.save(force_insert=True)
        log.append(
            events.TokenIssued(subject=token.public_id, scopes=token.scopes, expires=timestamp(token.expiry)),
            by=by,
        )
    return token, text


def _behind_from_the_start(lifetime: timedelta) -> int | None:
    """Whoever makes a token for a week needs not be told at once that it ends within two."""
    return min((days for days in MARKS if days and lifetime <= timedelta(days=days)), default=None)


def revoke_token(token: ApiToken, *, by: Actor, cause: ApiToken.Cause = ApiToken.Cause.REVOKED) -> ApiToken:
    """The token, refused from this moment; doing it again changes nothing."""
    with transaction.atomic():
        locked = ApiToken.objects.select_for_update().get(pk=token.pk)
        if locked.revoked_at is None:
            locked.revoked_at, locked.revoked_cause = clock.now(), cause
            locked.save(update_fields=["revoked_at", "revoked_cause"])
            log.append(events.TokenRevoked(subject=locked.public_id, cause=cause.value), by=by)
    return locked


def revoke_all_of(user: User, *, by: Actor, cause: ApiToken.Cause) -> None:
    """Every token of the person that still counts, in the caller's transaction."""
    _revoke(ApiToken.objects.filter(user=user), by=by, cause=cause)


def revoke_for_leaving(user: User, organisation_id: UUID, *, by: Actor) -> None:
    """Those for that organisation, in the caller's transaction; who is invited again makes new ones."""
    rows = ApiToken.objects.filter(user=user, organisation_id=organisation_id)
    _revoke(rows, by=by, cause=ApiToken.Cause.LEFT)


def _revoke(tokens: QuerySet[ApiToken], *, by: Actor, cause: ApiToken.Cause) -> None:
    for token in tokens.filter(revoked_at=None).order_by("pk"):
        revoke_token(token, by=by, cause=cause)


def note_use(token: ApiToken) -> None:
    """Keep when it was last used, to the minute.

    Without an event: it changes nothing that anybody may do, and one for each request would tell from the log alone
    how often a vendor asks. To the minute, so that a busy token costs one write a minute and not one a request.
    """
    now = clock.now()
    if token.last_used_at is None or token.last_used_at <= now - USE_GRAIN:
        stale = Q(last_used_at=None) | Q(last_used_at__lte=now - USE_GRAIN)
        ApiToken.objects.filter(stale, pk=token.pk).update(last_used_at=now)


def report_leaked(text: str) -> None:
    """Somebody says that this text is public. The same is done whatever it is; a worker looks what it opens.

    So neither answer nor time tells whether the token counts. Nothing is kept but its hash, until it was looked at.
    """
    LeakReport.objects.create(
        digest=hash_token(text), token_key=text[: CONSTANTS.TOKEN_KEY_LENGTH], reported_at=clock.now()
    )
    transaction.on_commit(_call_worker, robust=True)


def _call_worker() -> None:
    from config.celery import send_ticket

    send_ticket("accounts.tasks.revoke_leaked", queue="web")


def revoke_leaked() -> int:
    """Revoke what was reported, tell the holders, forget the reports; how many tokens were revoked."""
    revoked = 0
    for number in list(LeakReport.objects.order_by("pk").values_list("pk", flat=True)):
        with transaction.atomic():
            report = LeakReport.objects.select_for_update(skip_locked=True).filter(pk=number).first()
            if report is None:
                continue
            token = with_digest(report.digest, key=report.token_key)
            if token is not None and token.revoked_at is None:
                revoke_token(token, by=BY_REPORT, cause=ApiToken.Cause.LEAKED)
                _tell(token, Kind.TOKEN_LEAKED)
                revoked += 1
            report.delete()
    return revoked


def announce_ends() -> int:
    """Tell the holders of tokens that end in 14 days, in 3, or have ended: once each; how many were told."""
    told = 0
    for digest in ends_soon(clock.now()):
        with transaction.atomic():
            rows = ApiToken.objects.select_for_update(skip_locked=True, of=("self",)).select_related(
                "user", "organisation"
            )
            token = rows.filter(pk=digest, revoked_at=None).first()
            if token is None or token.expiry is None:
                continue
            mark = mark_reached(token.expiry, clock.now())
            if mark is None or (token.announced_days is not None and token.announced_days <= mark):
                continue
            token.announced_days = mark
            token.save(update_fields=["announced_days"])
            _tell(token, Kind.TOKEN_EXPIRING if mark else Kind.TOKEN_EXPIRED, occasion=str(mark))
            told += 1
    return told


def _tell(token: ApiToken, kind: Kind, occasion: str = "") -> None:
    """Its holder alone: a token acts in their name."""
    assert token.expiry is not None
    notify(
        [token.user],
        kind,
        subject=token.public_id,
        facts={"name": token.name, "expires": timestamp(token.expiry)},
        organisation=token.organisation,
        occasion=occasion,
    )
