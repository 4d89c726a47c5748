"""API authentication of CI jobs (`Authorization: Bearer lgb_ci_…`). Each refusal says which reason it is."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from hmac import compare_digest
from typing import ClassVar
from uuid import UUID

from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from accounts.models import Membership, Organisation, User
from accounts.permissions import Credential
from accounts.publishing import queries
from accounts.publishing.models import CiGrant
from accounts.publishing.refusals import IdentityRefused
from accounts.publishing.services import PREFIX, actor_of
from audit.events import Actor
from config import clock

SCHEME = b"bearer"


@dataclass(frozen=True)
class CiCredential:
    """A live credential of a job: `accounts.permissions.Presented`."""

    grant: CiGrant
    kind: Credential
    role: str
    scopes: ClassVar[Collection[str]] = ()

    @property
    def organisation(self) -> Organisation:
        return self.grant.publisher.organisation

    @property
    def harness_id(self) -> UUID | None:
        return self.grant.publisher.harness_id

    @property
    def submission_id(self) -> UUID | None:
        """Who acts is not limited to what was submitted before, only to the harness."""
        return self.grant.submission_id if self.kind is Credential.WATCH else None

    def actor(self) -> Actor:
        return actor_of(self.grant)


class CiAuthentication(BaseAuthentication):
    """`request.user` is who registered the publisher, `request.auth` a CiCredential; None for every other credential.

    Raises AuthenticationFailed: token_invalid, ci_expired, watch_unbound, publisher_removed, publisher_suspended,
    publisher_orphaned, organisation_suspended.
    """

    def authenticate(self, request: Request) -> tuple[User, CiCredential] | None:
        words = get_authorization_header(request).split()
        if len(words) != 2 or words[0].lower() != SCHEME or not words[1].startswith(PREFIX.encode()):
            return None
        secret = words[1].decode("latin-1")
        grant = queries.grant_with(secret)
        if grant is None:
            raise AuthenticationFailed(code="token_invalid")
        acts = compare_digest(grant.act_digest, queries.digest(secret))
        try:
            role = _role_to_act(grant) if acts else _role_to_watch(grant)
        except IdentityRefused as refusal:
            raise AuthenticationFailed(code=refusal.cause.value) from None
        found = CiCredential(grant, Credential.ACT if acts else Credential.WATCH, role)
        return grant.publisher.registered_by, found

    def authenticate_header(self, request: Request) -> str:
        return 'Bearer realm="api"'


def _role_to_act(grant: CiGrant) -> str:
    if grant.act_expires_at <= clock.now():
        raise AuthenticationFailed(code="ci_expired")
    queries.require_live(grant.publisher)
    return _role(grant)


def _role_to_watch(grant: CiGrant) -> str:
    """A publisher that was removed lets its jobs act no more, but what they made may still be watched."""
    if grant.watch_expires_at <= clock.now():
        raise AuthenticationFailed(code="ci_expired")
    queries.require_person(grant.publisher)
    if grant.submission_id is None:
        raise AuthenticationFailed(code="watch_unbound")
    return _role(grant)


def _role(grant: CiGrant) -> str:
    publisher = grant.publisher
    rows = Membership.objects.filter(user=publisher.registered_by, organisation_id=publisher.organisation_id)
    return str(rows.values_list("role", flat=True).get())
