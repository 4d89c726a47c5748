"""Personal tokens over the API, for a signed-in session only; and reports of leaked ones, from anybody."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, ClassVar
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.models import ApiToken, Membership
from accounts.permissions import Permission
from accounts.queries import membership_of
from accounts.tokens import queries as tokens
from accounts.tokens import services
from submissions import queries
from submissions.api.base import MemberView, PublicView, referenced
from submissions.api.openapi import problems
from submissions.api.serializers import StrictSerializer
from submissions.queries import NotVisible

LONGEST = 200
"""Characters of a text that somebody reports as a token."""


class TokenIn(StrictSerializer):
    name = serializers.CharField(max_length=80)
    scopes = serializers.ListField(
        child=serializers.ChoiceField(choices=ApiToken.Scope.values), allow_empty=False, max_length=3
    )
    harness = serializers.UUIDField(required=False, allow_null=True, default=None)
    days = serializers.IntegerField(min_value=1, max_value=services.TOKEN_LIFETIME.days, default=30)


class TokenOut(serializers.Serializer[Any]):
    """Never its text."""

    id = serializers.UUIDField(source="public_id")
    name = serializers.CharField()
    begins_with = serializers.SerializerMethodField()
    scopes = serializers.ListField(child=serializers.CharField())
    harness = serializers.UUIDField(source="harness_id", allow_null=True)
    own = serializers.SerializerMethodField()
    created_at = serializers.DateTimeField(source="created")
    expires_at = serializers.DateTimeField(source="expiry")
    last_used_at = serializers.DateTimeField(allow_null=True)
    revoked_at = serializers.DateTimeField(allow_null=True)
    revoked_cause = serializers.CharField(allow_blank=True)

    def get_begins_with(self, token: ApiToken) -> str:
        return token.shown

    def get_own(self, token: ApiToken) -> bool:
        """Whether the caller holds it; an owner sees those of others too."""
        return bool(token.user_id == self.context["user_id"])


class TokensOut(serializers.Serializer[Any]):
    tokens = TokenOut(many=True)


class TokenOnceOut(TokenOut):
    """The answer to the one request that made it."""

    token = serializers.CharField()


class LeakedIn(StrictSerializer):
    token = serializers.CharField(max_length=LONGEST)


class LeakedOut(serializers.Serializer[Any]):
    received = serializers.BooleanField()


class _Tokens(MemberView):
    def shown(self, token: ApiToken) -> dict[str, Any]:
        return dict(TokenOut(token, context={"user_id": self.caller.user.pk}).data)

    def visible(self) -> list[ApiToken]:
        membership = membership_of(self.caller.user, self.caller.organisation.pk)
        assert isinstance(membership, Membership)
        return tokens.visible_to(membership)


class Tokens(_Tokens):
    """Making one needs no Idempotency-Key: the answer, which holds the secret, is kept nowhere to be given again."""

    permissions: ClassVar = {"GET": Permission.TOKEN_READ, "POST": Permission.TOKEN_WRITE}

    @extend_schema(operation_id="token_list", responses=problems({200: TokensOut}))
    def get(self, request: Request) -> Response:
        return Response({"tokens": [self.shown(token) for token in self.visible()]})

    @extend_schema(operation_id="token_create", request=TokenIn, responses=problems({201: TokenOnceOut}))
    def post(self, request: Request) -> Response:
        body = self.read(TokenIn)
        organisation = self.caller.organisation
        if body["harness"]:
            referenced("harness", queries.harness_of, organisation, body["harness"])
        token, secret = services.issue_token(
            self.caller.user,
            organisation,
            name=body["name"],
            scopes=sorted(set(body["scopes"])),
            by=self.caller.actor,
            harness_id=body["harness"],
            lifetime=timedelta(days=body["days"]),
        )
        answer = Response({**self.shown(token), "token": secret}, status=201)
        answer["Cache-Control"] = "no-store"
        return answer


class TokenDetail(_Tokens):
    """Revoke it: at once, for good; again changes nothing."""

    permissions: ClassVar = {"DELETE": Permission.TOKEN_REVOKE}

    @extend_schema(operation_id="token_revoke", responses=problems({200: TokenOut}))
    def delete(self, request: Request, token_id: UUID) -> Response:
        found = next((token for token in self.visible() if token.public_id == token_id), None)
        if found is None:
            raise NotVisible
        return Response(self.shown(services.revoke_token(found, by=self.caller.actor)))


class LeakedToken(PublicView):
    """For whoever found a token in public, above all scanners. What it is worth does not show in the answer."""

    @extend_schema(operation_id="token_leaked", request=LeakedIn, responses=problems({202: LeakedOut}))
    def post(self, request: Request) -> Response:
        body = LeakedIn(data=request.data)
        body.is_valid(raise_exception=True)
        services.report_leaked(body.validated_data["token"])
        return Response({"received": True}, status=202)
