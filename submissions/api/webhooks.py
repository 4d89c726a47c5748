"""Webhooks over the API; only a signed-in session writes."""

from __future__ import annotations

from typing import Any, ClassVar
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.permissions import Permission
from submissions.api import paging
from submissions.api.base import MemberView
from submissions.api.openapi import problems
from submissions.api.paging import PAGED
from submissions.api.serializers import StrictSerializer
from submissions.models import WebhookDelivery, WebhookEndpoint
from submissions.services import standing
from submissions.webhooks import queries, services
from submissions.webhooks.kinds import CHOICES

KINDS = [kind for kind, _words in CHOICES]
READS_AND_REMOVES = {"GET": Permission.WEBHOOK_READ, "DELETE": Permission.WEBHOOK_WRITE}


class WebhookIn(StrictSerializer):
    url = serializers.CharField(max_length=500)
    kinds = serializers.ListField(child=serializers.ChoiceField(KINDS), allow_empty=False, max_length=10)


class WebhookOut(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    url = serializers.CharField()
    kinds = serializers.ListField(child=serializers.ChoiceField(KINDS))
    active = serializers.SerializerMethodField()
    created_at = serializers.DateTimeField()
    failing_since = serializers.DateTimeField(allow_null=True)

    def get_active(self, row: WebhookEndpoint) -> bool:
        return row.disabled_at is None


class WebhookCreatedOut(WebhookOut):
    secret = serializers.CharField(help_text="Shown this once.")


class WebhooksOut(serializers.Serializer[Any]):
    webhooks = WebhookOut(many=True)


class DeliveryOut(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    webhook = serializers.UUIDField(source="endpoint_id")
    type = serializers.CharField(source="kind")
    state = serializers.SerializerMethodField()
    created_at = serializers.DateTimeField()
    attempts = serializers.IntegerField()
    last_at = serializers.DateTimeField(allow_null=True)
    last_status = serializers.IntegerField(allow_null=True)
    last_fault = serializers.CharField(allow_blank=True)
    next_at = serializers.DateTimeField(source="due_at", allow_null=True)

    def get_state(self, row: WebhookDelivery) -> str:
        return queries.state_of(row)


class DeliveriesOut(serializers.Serializer[Any]):
    deliveries = DeliveryOut(many=True)
    next = serializers.CharField(allow_null=True)


class Webhooks(MemberView):
    """The organisation's webhooks. The secret is in the answer that creates one, and nowhere else."""

    permissions: ClassVar = {"GET": Permission.WEBHOOK_READ, "POST": Permission.WEBHOOK_WRITE}

    @extend_schema(responses=problems({200: WebhooksOut}))
    def get(self, request: Request) -> Response:
        rows = queries.webhooks_of(self.caller.organisation)
        return Response({"webhooks": WebhookOut(rows, many=True).data})

    @extend_schema(request=WebhookIn, responses=problems({201: WebhookCreatedOut}))
    def post(self, request: Request) -> Response:
        """No Idempotency-Key: an answer with a secret is kept nowhere."""
        body = self.read(WebhookIn)
        standing.require(self.caller.organisation, self.caller.actor)
        row, secret = services.create(self.caller.organisation, **body, by=self.caller.actor)
        return Response({**WebhookOut(row).data, "secret": secret}, status=201)


class WebhookDetail(MemberView):
    permissions: ClassVar = READS_AND_REMOVES

    @extend_schema(responses=problems({200: WebhookOut}))
    def get(self, request: Request, webhook_id: UUID) -> Response:
        return Response(WebhookOut(queries.webhook_of(self.caller.organisation, webhook_id)).data)

    @extend_schema(responses=problems({204: None}))
    def delete(self, request: Request, webhook_id: UUID) -> Response:
        row = queries.webhook_of(self.caller.organisation, webhook_id)
        services.remove(row, by=self.caller.actor)
        return Response(status=204)


class WebhookTest(MemberView):
    permissions: ClassVar = {"POST": Permission.WEBHOOK_WRITE}

    @extend_schema(request=None, responses=problems({202: DeliveryOut}))
    def post(self, request: Request, webhook_id: UUID) -> Response:
        row = queries.webhook_of(self.caller.organisation, webhook_id)
        return Response(DeliveryOut(services.test(row)).data, status=202)


class WebhookDeliveries(MemberView):
    permissions: ClassVar = {"GET": Permission.WEBHOOK_READ}

    @extend_schema(parameters=PAGED, responses=problems({200: DeliveriesOut}))
    def get(self, request: Request, webhook_id: UUID) -> Response:
        row = queries.webhook_of(self.caller.organisation, webhook_id)
        query = paging.asked(request)
        found = queries.deliveries_of(row, limit=query["limit"] + 1, before=query.get("cursor"))
        page = paging.cut(found, query["limit"], lambda delivery: delivery.id)
        return paging.answer(request, "deliveries", DeliveryOut(page.rows, many=True).data, page)


class DeliveryReplay(MemberView):
    permissions: ClassVar = {"POST": Permission.WEBHOOK_WRITE}

    @extend_schema(request=None, responses=problems({202: DeliveryOut}))
    def post(self, request: Request, delivery_id: UUID) -> Response:
        row = queries.delivery_of(self.caller.organisation, delivery_id)
        services.replay(row)
        row.refresh_from_db()
        return Response(DeliveryOut(row).data, status=202)
