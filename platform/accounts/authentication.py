"""API authentication by personal token (`Authorization: Bearer lgb_…`). Each refusal says which reason it is."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from hmac import compare_digest
from typing import Any, ClassVar
from uuid import UUID

from django.utils.translation import gettext_lazy as _
from knox.auth import TokenAuthentication
from knox.crypto import hash_token
from knox.settings import CONSTANTS
from rest_framework.authentication import SessionAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from accounts.models import ApiToken, Membership, Organisation, User
from accounts.permissions import Credential
from accounts.services import actor_for_token
from audit.events import Actor
from config import clock


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


class ApiTokenAuthentication(TokenAuthentication):  # type: ignore[misc]
    """`request.user` is the holder, `request.auth` a PersonalToken. Raises AuthenticationFailed with a stable code:
    token_invalid, token_expired, token_revoked, account_suspended, token_orphaned."""

    def authenticate_credentials(self, token: bytes) -> tuple[User, PersonalToken]:
        try:
            text = token.decode("ascii")
        except UnicodeDecodeError:
            raise AuthenticationFailed(_("This token is not valid."), code="token_invalid") from None
        digest = hash_token(text)
        candidates = ApiToken.objects.filter(token_key=text[: CONSTANTS.TOKEN_KEY_LENGTH]).select_related(
            "user", "organisation"
        )
        found = next((row for row in candidates if compare_digest(digest, row.digest)), None)
        if found is None:
            raise AuthenticationFailed(_("This token is not valid."), code="token_invalid")
        return found.user, PersonalToken(found, self._role_of_live(found))

    def _role_of_live(self, token: ApiToken) -> str:
        if token.revoked_at is not None:
            raise AuthenticationFailed(_("This token was revoked."), code="token_revoked")
        if token.expiry is None or token.expiry <= clock.now():
            raise AuthenticationFailed(_("This token has expired."), code="token_expired")
        if token.user.is_suspended or not token.user.is_active:
            raise AuthenticationFailed(_("This account is suspended."), code="account_suspended")
        member = Membership.objects.filter(user=token.user, organisation=token.organisation)
        role: str | None = member.values_list("role", flat=True).first()
        if role is None:
            raise AuthenticationFailed(
                _("The token's holder has left the organisation."), code="token_orphaned"
            )
        return role


class LiveSessionAuthentication(SessionAuthentication):
    """A browser session; a suspended person is a stranger at once."""

    def authenticate(self, request: Request) -> tuple[Any, None] | None:
        found = super().authenticate(request)
        if found is not None and getattr(found[0], "is_suspended", False):
            raise AuthenticationFailed(_("This account is suspended."), code="account_suspended")
        return found
