"""What all API views share: who calls, with which scope, for which organisation and harness."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar
from uuid import UUID

from rest_framework.exceptions import NotAuthenticated
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.serializers import Serializer
from rest_framework.views import APIView

from accounts.models import ApiToken, Organisation, User
from accounts.queries import membership_of
from accounts.services import actor_for, actor_for_token
from audit.events import Actor
from submissions.api.parsers import StrictJSONParser
from submissions.models import Harness
from submissions.problems import Code, refuse
from submissions.queries import NotVisible

IDEMPOTENCY_HEADER = "Idempotency-Key"


@dataclass(frozen=True)
class Caller:
    """A member of an organisation, by token or by session; `harness_id` where the token is limited to one."""

    user: User
    organisation: Organisation
    actor: Actor
    token: ApiToken | None

    @property
    def harness_id(self) -> UUID | None:
        return self.token.harness_id if self.token else None

    def require_harness(self, harness_id: UUID | None) -> None:
        """Raises Refused (token_harness_mismatch) where the token is limited to another harness."""
        bound = self.harness_id
        if bound is None or bound == harness_id:
            return
        name = Harness.objects.filter(pk=bound).values_list("name", flat=True).first()
        raise refuse(Code.TOKEN_HARNESS_MISMATCH, harness=name or str(bound))

    def require_scope(self, scope: str) -> None:
        """Raises Refused (scope_missing). A session may do what its person may."""
        if self.token is not None and scope not in self.token.scopes:
            raise refuse(Code.SCOPE_MISSING, scope=scope)


def caller_of(request: Request) -> Caller:
    """Who calls; raises NotAuthenticated, Refused (no_organisation)."""
    user = request.user
    if not isinstance(user, User):
        raise NotAuthenticated
    if isinstance(request.auth, ApiToken):
        token = request.auth
        return Caller(user, token.organisation, actor_for_token(token), token)
    membership = membership_of(user)
    if membership is None:
        raise refuse(Code.NO_ORGANISATION)
    organisation = membership.organisation
    return Caller(user, organisation, actor_for(user, channel="api", organisation=organisation), None)


class Member(BasePermission):
    """A member of an organisation whose credential has the scope that the view names for this method."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        caller = caller_of(request)
        assert isinstance(view, MemberView)
        caller.require_scope(view.scopes.get(request.method or "", "submit"))
        view.caller = caller
        return True


class Anyone(BasePermission):
    """What is published is published."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        return True


class ApiView(APIView):
    """Strict JSON in, problems out."""

    parser_classes = (StrictJSONParser,)


class PublicView(ApiView):
    """For everybody; credentials are not even looked at."""

    permission_classes = (Anyone,)
    authentication_classes = ()


class MemberView(ApiView):
    """For members; `scopes` says which scope a method needs of a token, and the others need `submit`."""

    permission_classes = (Member,)
    scopes: ClassVar[dict[str, str]] = {"GET": "read", "HEAD": "read", "OPTIONS": "read"}
    caller: Caller

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
