"""Reads about second factors: who has one, and what a session was signed in with."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from allauth.account.authentication import get_authentication_records
from allauth.mfa.models import Authenticator
from django.http import HttpRequest

from accounts.security import policies
from accounts.security.policies import Standing
from config import clock

FACTORS = (Authenticator.Type.TOTP, Authenticator.Type.WEBAUTHN)
"""Recovery codes come with one of these and are none by themselves."""


class FactorMissing(PermissionError):
    """The person has no second factor, and what they want needs one."""


def is_enrolled(account: UUID | None) -> bool:
    return account is not None and Authenticator.objects.filter(user_id=account, type__in=FACTORS).exists()


def require_enrolled(account: UUID | None) -> None:
    """Raises FactorMissing."""
    if not is_enrolled(account):
        raise FactorMissing


def standing_of(request: HttpRequest) -> Standing:
    """Of the signed-in session behind the request."""
    if not request.user.is_authenticated:
        return Standing.NONE
    used = any(record.get("method") == "mfa" for record in _records(request))
    return policies.standing(enrolled=is_enrolled(request.user.pk), used=used)


def is_fresh(request: HttpRequest) -> bool:
    """Whether whoever sits there has proved who they are within the last quarter of an hour."""
    records = _records(request)
    proved = datetime.fromtimestamp(records[-1]["at"], UTC) if records else None
    return policies.is_fresh(proved, clock.now())


def _records(request: HttpRequest) -> list[dict[str, Any]]:
    if not request.user.is_authenticated:
        return []
    found: list[dict[str, Any]] = get_authentication_records(request, request.user)
    return found
