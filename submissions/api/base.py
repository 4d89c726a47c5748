"""What all API views share: who calls, by which credential, for which organisation, harness and submission."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar
from uuid import UUID

from rest_framework.exceptions import MethodNotAllowed, NotAuthenticated
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.serializers import Serializer
from rest_framework.views import APIView

from accounts.models import Organisation, User
from accounts.permissions import (
    CREDENTIAL_WORDS,
    Credential,
    Permission,
    Presented,
    Reason,
    credentials_for,
    refused,
    scope_for,
)
from accounts.queries import membership_of
from accounts.security.factors import is_fresh, standing_of
from accounts.security.policies import NEEDS_FACTOR, NEEDS_PROOF, Standing
from accounts.services import actor_for
from audit.events import Actor
from submissions.api.parsers import StrictJSONParser
from submissions.models import Harness
from submissions.problems import Code, refuse
from submissions.queries import NotVisible
from submissions.queries.publishing import watch_is_over

IDEMPOTENCY_HEADER = "Idempotency-Key"
METHODS = ["get", "head", "post", "put", "patch", "delete"]
"""No OPTIONS: what it would tell is in the OpenAPI description, and no other origin may call."""


@dataclass(frozen=True)
class Caller:
    """Who answers for a call, for which organisation, and what the credential is limited to."""

    user: User
    organisation: Organisation
    actor: Actor
    credential: Credential
    role: str
    scopes: frozenset[str] = frozenset()
    harness_id: UUID | None = None
    submission_id: UUID | None = None
    is_strong: bool = True
    """For a session: whether it was signed in with a second factor."""
    is_fresh: bool = True
    """For a session: whether whoever sits there has just proved who they are."""

    def require(self, permission: Permission) -> None:
        """Raises Refused: credential_not_permitted, scope_missing, role_may_not_submit, mfa_required, proof_due."""
        reason = refused(permission, credential=self.credential, role=self.role, scopes=self.scopes)
        if reason is Reason.CREDENTIAL:
            allowed = ", ".join(credentials_for(permission))
            word = str(CREDENTIAL_WORDS[self.credential])
            raise refuse(Code.CREDENTIAL_NOT_PERMITTED, presented=word, allowed=allowed)
        if reason is Reason.SCOPE:
            raise refuse(Code.SCOPE_MISSING, scope=scope_for(permission).value)
        if reason is Reason.ROLE:
            raise refuse(Code.ROLE_MAY_NOT_SUBMIT)
        if permission in NEEDS_FACTOR and not self.is_strong:
            raise refuse(Code.MFA_REQUIRED)
        if permission in NEEDS_PROOF and not self.is_fresh:
            raise refuse(Code.PROOF_DUE)

    def require_harness(self, harness_id: UUID | None) -> None:
        """Raises Refused (token_harness_mismatch) where the credential is limited to another harness."""
        bound = self.harness_id
        if bound is None and self.credential is not Credential.ACT:
            return
        if bound is None or bound != harness_id:
            name = bound and Harness.objects.filter(pk=bound).values_list("name", flat=True).first()
            raise refuse(Code.TOKEN_HARNESS_MISMATCH, harness=name or str(bound))

    def require_submission(self, submission_id: UUID | None) -> None:
        """Raises NotVisible where the credential is limited to another submission: it knows of no other.

        Raises Refused (ci_expired) where what it watches ended too long ago.
        """
        bound = self.submission_id
        if bound != submission_id and (bound is not None or self.credential is Credential.WATCH):
            raise NotVisible
        if bound is not None and watch_is_over(bound):
            raise refuse(Code.CI_EXPIRED)


def caller_of(request: Request) -> Caller:
    """Who calls; raises NotAuthenticated, Refused (no_organisation)."""
    user, presented = request.user, request.auth
    if not isinstance(user, User):
        raise NotAuthenticated
    if presented is None:
        return _by_session(user, request)
    if not isinstance(presented, Presented):
        raise NotAuthenticated
    return Caller(
        user,
        presented.organisation,
        presented.actor(),
        presented.kind,
        presented.role,
        frozenset(presented.scopes),
        presented.harness_id,
        presented.submission_id,
    )


def _by_session(user: User, request: Request) -> Caller:
    membership = membership_of(user)
    if membership is None:
        raise refuse(Code.NO_ORGANISATION)
    organisation = membership.organisation
    by = actor_for(user, channel="api", organisation=organisation)
    strong, fresh = standing_of(request._request) is Standing.STRONG, is_fresh(request._request)
    return Caller(
        user, organisation, by, Credential.SESSION, membership.role, is_strong=strong, is_fresh=fresh
    )


class Member(BasePermission):
    """A member of an organisation whose credential has the permission that the view names for this method.

    Raises MethodNotAllowed for a method without an entry, whatever the view could answer.
    """

    def has_permission(self, request: Request, view: APIView) -> bool:
        caller = caller_of(request)
        assert isinstance(view, MemberView)
        permission = view.permission_for(request.method or "")
        if permission is None:
            raise MethodNotAllowed(request.method or "")
        caller.require(permission)
        view.caller = caller
        return True


class Anyone(BasePermission):
    """What is published is published."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        return True


class ApiView(APIView):
    """Strict JSON in, problems out."""

    http_method_names = METHODS
    parser_classes = (StrictJSONParser,)


class PublicView(ApiView):
    """For everybody; credentials are not even looked at."""

    permission_classes = (Anyone,)
    authentication_classes = ()


class MemberView(ApiView):
    """For members; `permissions` names the permission of each method, and HEAD has GET's. No entry, no answer."""

    permission_classes = (Member,)
    permissions: ClassVar[dict[str, Permission]] = {}
    caller: Caller

    @classmethod
    def permission_for(cls, method: str) -> Permission | None:
        return cls.permissions.get("GET" if method == "HEAD" else method)

    @property
    def allowed_methods(self) -> list[str]:
        """What the Allow header names."""
        return [method for method in super().allowed_methods if self.permission_for(method)]

    def read(self, kind: type[Serializer[Any]]) -> dict[str, Any]:
        """The validated body; raises ValidationError."""
        serializer = kind(data=self.request.data)
        serializer.is_valid(raise_exception=True)
        found: dict[str, Any] = serializer.validated_data
        return found

    def idempotency_key(self) -> str:
        return str(self.request.headers.get(IDEMPOTENCY_HEADER, ""))


def referenced(field: str, found: Any, *arguments: Any) -> Any:
    """What a body refers to; another's and nothing at all are the same refusal, which names the field."""
    try:
        return found(*arguments)
    except NotVisible:
        raise refuse(Code.UNKNOWN_REFERENCE, field=field) from None
