"""Identities of CI jobs over the API: exchange one for credentials, try one, and what a vendor trusts."""

from __future__ import annotations

from typing import Any, ClassVar
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.permissions import Permission
from accounts.publishing.models import TrustedPublisher
from accounts.publishing.verification import LONGEST
from submissions import queries, services
from submissions.api.base import MemberView, PublicView, referenced
from submissions.api.openapi import CREATES, problems
from submissions.api.serializers import StrictSerializer
from submissions.problems import sentence
from submissions.queries import publishing as reads
from submissions.services import publishing


class IdentityIn(StrictSerializer):
    token = serializers.CharField(max_length=LONGEST, trim_whitespace=False)
    harness = serializers.CharField(
        max_length=63,
        required=False,
        default="",
        help_text="Id or name; due where the job is trusted for several. A stranger's may bear the same name.",
    )


class CiCredentialOut(serializers.Serializer[Any]):
    token = serializers.CharField()
    expires_at = serializers.DateTimeField()


class ActOut(CiCredentialOut):
    harness = serializers.UUIDField()
    harness_name = serializers.CharField()


class ExchangedOut(serializers.Serializer[Any]):
    publisher = serializers.UUIDField()
    organisation = serializers.UUIDField()
    act = ActOut()
    watch = CiCredentialOut()


class ComparisonOut(serializers.Serializer[Any]):
    field = serializers.CharField()
    claim = serializers.CharField()
    expected = serializers.CharField()
    received = serializers.CharField()
    matches = serializers.BooleanField()


class CheckedOut(serializers.Serializer[Any]):
    matches = serializers.BooleanField()
    code = serializers.CharField(allow_blank=True)
    detail = serializers.CharField(allow_blank=True)
    publisher = serializers.UUIDField(allow_null=True)
    harness = serializers.UUIDField(allow_null=True)
    harness_name = serializers.CharField(allow_blank=True)
    fields_compared = ComparisonOut(many=True)


class PublisherIn(StrictSerializer):
    harness = serializers.UUIDField()
    issuer = serializers.CharField(max_length=255)
    repository = serializers.CharField(max_length=255)
    owner_id = serializers.CharField(max_length=20)
    workflow = serializers.CharField(max_length=255)
    ref = serializers.CharField(max_length=255, required=False, default="", allow_blank=True)
    environment = serializers.CharField(max_length=255, required=False, default="", allow_blank=True)


class PublisherOut(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    harness = serializers.UUIDField(source="harness_id")
    issuer = serializers.CharField()
    repository = serializers.CharField()
    owner_id = serializers.CharField()
    workflow = serializers.CharField()
    ref = serializers.CharField()
    environment = serializers.CharField()
    state = serializers.SerializerMethodField()
    registered_at = serializers.DateTimeField()
    ended_at = serializers.DateTimeField(allow_null=True)

    def get_state(self, row: TrustedPublisher) -> str:
        return "active" if row.ended_at is None else "removed"


class PublishersOut(serializers.Serializer[Any]):
    publishers = PublisherOut(many=True)


class Exchange(PublicView):
    """A job's identity for two credentials: to act for one harness, and to watch the submission it makes."""

    @extend_schema(operation_id="oidc_exchange", request=IdentityIn, responses=problems({201: ExchangedOut}))
    def post(self, request: Request) -> Response:
        asked = _read(request)
        found = publishing.exchange(asked["token"], asked["harness"])
        grant, publisher = found.grant, found.grant.publisher
        body = {
            "publisher": publisher.id,
            "organisation": publisher.organisation_id,
            "act": {
                "token": found.act,
                "expires_at": grant.act_expires_at,
                "harness": publisher.harness_id,
                "harness_name": reads.harness_names([publisher])[publisher.harness_id],
            },
            "watch": {"token": found.watch, "expires_at": grant.watch_expires_at},
        }
        return Response(ExchangedOut(body).data, status=201)


class Check(PublicView):
    """What an exchange would say, field by field; nothing is used up and nothing is given."""

    @extend_schema(operation_id="oidc_check", request=IdentityIn, responses=problems({200: CheckedOut}))
    def post(self, request: Request) -> Response:
        asked = _read(request)
        found = publishing.check(asked["token"], asked["harness"])
        body = {
            "matches": not found.code,
            "code": found.code,
            "detail": sentence(found.code, found.facts) if found.code else "",
            "publisher": found.publisher.id if found.publisher else None,
            "harness": found.publisher.harness_id if found.publisher else None,
            "harness_name": found.harness,
            "fields_compared": found.fields,
        }
        return Response(CheckedOut(body).data)


def _read(request: Request) -> dict[str, Any]:
    serializer = IdentityIn(data=request.data)
    serializer.is_valid(raise_exception=True)
    found: dict[str, Any] = serializer.validated_data
    return found


class Publishers(MemberView):
    """Whose jobs the organisation trusts. Only a person registers one, in a session."""

    permissions: ClassVar[dict[str, Permission]] = {
        "GET": Permission.PUBLISHER_READ,
        "POST": Permission.PUBLISHER_WRITE,
    }

    @extend_schema(operation_id="publisher_list", responses=problems({200: PublishersOut}))
    def get(self, request: Request) -> Response:
        bound = self.caller.harness_id
        rows = [row for row, _ in reads.named_publishers(self.caller.organisation)]
        shown = [row for row in rows if bound is None or row.harness_id == bound]
        return Response(PublishersOut({"publishers": shown}).data)

    @extend_schema(
        operation_id="publisher_create",
        request=PublisherIn,
        parameters=CREATES,
        responses=problems({201: PublisherOut}),
    )
    def post(self, request: Request) -> Response:
        body = self.read(PublisherIn)
        caller = self.caller
        harness = referenced("harness", queries.harness_of, caller.organisation, body["harness"])
        fields = {name: value for name, value in body.items() if name != "harness"}

        def act() -> tuple[int, dict[str, Any]]:
            row = publishing.register(harness, fields, person=caller.user, by=caller.actor)
            return 201, dict(PublisherOut(row).data)

        sent = {**body, "harness": str(harness.id)}
        answer = services.once(caller.organisation, "publishers", self.idempotency_key(), sent, act)
        return Response(answer.body, status=answer.status)


class PublisherDetail(MemberView):
    permissions: ClassVar[dict[str, Permission]] = {
        "GET": Permission.PUBLISHER_READ,
        "DELETE": Permission.PUBLISHER_WRITE,
    }

    @extend_schema(operation_id="publisher", responses=problems({200: PublisherOut}))
    def get(self, request: Request, publisher_id: UUID) -> Response:
        return Response(PublisherOut(self.publisher(publisher_id)).data)

    @extend_schema(operation_id="publisher_remove", responses=problems({200: PublisherOut}))
    def delete(self, request: Request, publisher_id: UUID) -> Response:
        row = publishing.remove(self.publisher(publisher_id), person=self.caller.user, by=self.caller.actor)
        return Response(PublisherOut(row).data)

    def publisher(self, publisher_id: UUID) -> TrustedPublisher:
        found = reads.own_publisher(self.caller.organisation, publisher_id)
        self.caller.require_harness(found.harness_id)
        return found
