"""Reads about tokens: by their text, and who sees which."""

from __future__ import annotations

from datetime import datetime, timedelta
from hmac import compare_digest

from django.db.models import Exists, OuterRef, Q
from knox.crypto import hash_token
from knox.settings import CONSTANTS

from accounts.models import ApiToken, Membership
from accounts.tokens.text import well_formed

MARKS = (14, 3, 0)
"""Days before its end at which the holder is told; 0 is the end itself."""
FORGOTTEN = timedelta(days=7)
"""What ended longer ago than this is not announced any more."""


def token_with(text: str) -> ApiToken | None:
    """The token of this text, live or not; None where there is none."""
    return (
        with_digest(hash_token(text), key=text[: CONSTANTS.TOKEN_KEY_LENGTH]) if well_formed(text) else None
    )


def with_digest(digest: str, *, key: str) -> ApiToken | None:
    rows = ApiToken.objects.filter(token_key=key).select_related("user", "organisation")
    return next((row for row in rows if compare_digest(digest, row.digest)), None)


def visible_to(membership: Membership) -> list[ApiToken]:
    """An owner sees every token of the organisation, the others see their own; whoever sees one may revoke it."""
    rows = ApiToken.objects.filter(organisation=membership.organisation).select_related("user")
    if membership.role != Membership.Role.OWNER:
        rows = rows.filter(user=membership.user)
    return list(rows.order_by("-created"))


def ends_soon(now: datetime) -> list[str]:
    """Digests of live tokens whose holder may have to be told of their end; oldest end first."""
    members = Membership.objects.filter(user=OuterRef("user"), organisation=OuterRef("organisation"))
    rows = ApiToken.objects.filter(
        Q(announced_days=None) | Q(announced_days__gt=0),
        Exists(members),
        revoked_at=None,
        expiry__lte=now + timedelta(days=max(MARKS)),
        expiry__gt=now - FORGOTTEN,
        user__is_active=True,
        user__suspended_at=None,
    )
    return list(rows.order_by("expiry").values_list("digest", flat=True))


def mark_reached(expiry: datetime, now: datetime) -> int | None:
    """The latest of MARKS that lies behind; None before the first."""
    return min((days for days in MARKS if expiry - timedelta(days=days) <= now), default=None)
