"""API authentication by personal token (`Authorization: Bearer lgb_…`). Each refusal says which reason it is."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, ClassVar
from uuid import UUID

from rest_framework.authentication import (
    BaseAuthentication,
    SessionAuthentication,
    get_authorization_header,
)
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from accounts.models import ApiToken, Membership, Organisation, User
from accounts.permissions import Credential
from accounts.services import actor_for_token
from accounts.tokens.queries import token_with
from accounts.tokens.services import note_use
from accounts.tokens.text import well_formed
from audit.events import Actor
from config import clock

SCHEME = b"bearer"


@dataclass(frozen=True)
class PersonalToken:
    """A live token with the role of its holder: `accounts.permissions.Presented`."""

    token: ApiToken
    role: str
    kind: ClassVar[Credential] = Credential.TOKEN
    submission_id: ClassVar[UUID | None] = None

    @property
    def organisation(self) -> Organisation:
        return self.token.organisation

    @property
    def harness_id(self) -> UUID | None:
        return self.token.harness_id

    @property
    def scopes(self) -> Collection[str]:
        return self.token.scopes

    def actor(self) -> Actor:
        return actor_for_token(self.token)


class ApiTokenAuthentication(BaseAuthentication):
    """`request.user` is the holder, `request.auth` a PersonalToken. Raises AuthenticationFailed with a stable code:
    token_malformed, token_invalid, token_revoked, token_expired, account_suspended, token_orphaned."""

    def authenticate(self, request: Request) -> tuple[User, PersonalToken] | None:
        words = get_authorization_header(request).split()
        if not words or words[0].lower() != SCHEME:
            return None
        text = b" ".join(words[1:]).decode("latin-1")
        if not well_formed(text):
            raise AuthenticationFailed(code="token_malformed")
        token = token_with(text)
        if token is None:
            raise AuthenticationFailed(code="token_invalid")
        found = PersonalToken(token, _role_of_live(token))
        note_use(token)
        return token.user, found

    def authenticate_header(self, request: Request) -> str:
        return 'Bearer realm="api"'


def _role_of_live(token: ApiToken) -> str:
    if token.revoked_at is not None:
        left = token.revoked_cause == ApiToken.Cause.LEFT
        raise AuthenticationFailed(code="token_orphaned" if left else "token_revoked")
    if token.expiry is None or token.expiry <= clock.now():
        raise AuthenticationFailed(code="token_expired")
    if token.user.is_suspended or not token.user.is_active:
        raise AuthenticationFailed(code="account_suspended")
    member = Membership.objects.filter(user=token.user, organisation=token.organisation)
    role: str | None = member.values_list("role", flat=True).first()
    if role is None:
        raise AuthenticationFailed(code="token_orphaned")
    return role


class LiveSessionAuthentication(SessionAuthentication):
    """A browser session; a suspended person is a stranger at once."""

    def authenticate(self, request: Request) -> tuple[Any, None] | None:
        found = super().authenticate(request)
        if found is not None and getattr(found[0], "is_suspended", False):
            raise AuthenticationFailed(code="account_suspended")
        return found
