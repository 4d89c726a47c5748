"""Preflights on their own over the API: start, watch, read, cancel. No held-out task, no use of the quota."""

from __future__ import annotations

from typing import Any, ClassVar
from uuid import UUID

from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.linking.services import note_network
from accounts.permissions import Credential, Permission
from submissions import queries, services
from submissions.api import paging
from submissions.api.base import MemberView
from submissions.api.openapi import CREATES, problems
from submissions.api.ordering import order_of
from submissions.api.paging import PAGED, PageIn
from submissions.api.rates import address_of
from submissions.api.serializers import (
    MomentOut,
    OutcomeOut,
    PreflightOut,
    QueueOut,
    ReceiptOut,
    StrictSerializer,
    queue_shown,
)
from submissions.delivery import delivers, hand_out, restates_the_request, show_status
from submissions.faces import preflight_face
from submissions.models import Submission
from submissions.policies.failures import FailureClass, failure_class


class ListIn(PageIn):
    harness = serializers.UUIDField(required=False)


class PreflightIn(StrictSerializer):
    harness_version = serializers.UUIDField()
    task_set = serializers.RegexField(r"^[0-9A-Za-z._-]{1,32}\Z")
    upload = serializers.UUIDField()


class StandaloneOut(serializers.Serializer[Any]):
    """One line of a list."""

    id = serializers.UUIDField()
    url = serializers.CharField(source="address")
    harness = serializers.UUIDField(source="harness_version.harness_id")
    harness_version = serializers.UUIDField(source="harness_version_id")
    version = serializers.CharField(source="harness_version.version")
    task_set = serializers.CharField(source="task_set.label")
    state = serializers.CharField()
    state_since = serializers.DateTimeField()
    admitted_at = serializers.DateTimeField()
    ended_at = serializers.DateTimeField(allow_null=True)


class StandalonesOut(serializers.Serializer[Any]):
    preflights = StandaloneOut(many=True)
    next = serializers.CharField(allow_null=True, help_text="The address of the next page.")


class CountsOut(serializers.Serializer[Any]):
    """`total` runs are prescribed; `crashed` ended without artefact or reply."""

    state = serializers.CharField()
    total = serializers.IntegerField()
    done = serializers.IntegerField()
    crashed = serializers.IntegerField()
    missing = serializers.IntegerField()


class StandaloneDetailOut(StandaloneOut):
    """How it stands. The runs with their logs are at `links.runs`, since reading those is on record each time."""

    channel = serializers.CharField()
    upload = serializers.UUIDField(source="upload_id")
    package_digest = serializers.CharField()
    card_digest = serializers.CharField()
    run = serializers.SerializerMethodField()
    outcome = serializers.SerializerMethodField()
    failure_class = serializers.SerializerMethodField()
    timeline = serializers.SerializerMethodField()
    queue = serializers.SerializerMethodField()
    links = serializers.SerializerMethodField()

    @extend_schema_field(QueueOut(allow_null=True))
    def get_queue(self, preflight: Submission) -> dict[str, Any] | None:
        return queue_shown(preflight)

    @extend_schema_field(CountsOut)
    def get_run(self, preflight: Submission) -> dict[str, Any]:
        return dict(CountsOut(queries.preflight_report(preflight)).data)

    @extend_schema_field(OutcomeOut(allow_null=True))
    def get_outcome(self, preflight: Submission) -> dict[str, Any] | None:
        found = queries.outcome(preflight)
        return dict(OutcomeOut(found).data) if found else None

    @extend_schema_field(serializers.ChoiceField(choices=list(FailureClass), allow_null=True))
    def get_failure_class(self, preflight: Submission) -> str | None:
        return failure_class(preflight.state, preflight.reason_code)

    @extend_schema_field(MomentOut(many=True))
    def get_timeline(self, preflight: Submission) -> list[dict[str, Any]]:
        return list(MomentOut(queries.timeline(preflight), many=True).data)

    def get_links(self, preflight: Submission) -> dict[str, str]:
        return {name: f"{preflight.address}/{name}" for name in ("runs", "cancel")}


@delivers("submission")
class Preflights(MemberView):
    permissions: ClassVar = {"GET": Permission.PREFLIGHT_LIST, "POST": Permission.PREFLIGHT_START}

    @extend_schema(
        operation_id="preflight_list",
        parameters=[*PAGED, OpenApiParameter("harness", UUID)],
        responses=problems({200: StandalonesOut}),
    )
    def get(self, request: Request) -> Response:
        asked = paging.asked(request, ListIn)
        organisation = self.caller.organisation
        harness_id = asked.get("harness") or self.caller.harness_id
        self.caller.require_harness(harness_id)
        rows = queries.preflights_of(
            organisation,
            harness=queries.harness_of(organisation, harness_id) if harness_id else None,
            before=asked.get("cursor"),
            limit=asked["limit"] + 1,
        )
        page = paging.cut(rows, asked["limit"], lambda row: row.id)
        answer = paging.answer(request, "preflights", StandaloneOut(page.rows, many=True).data, page)
        subject = ("organisation", organisation.id)
        show_status(request, "submission", subject, answer.data, by=self.caller.actor)
        return answer

    @extend_schema(
        operation_id="preflight_create",
        request=PreflightIn,
        parameters=CREATES,
        responses=problems({202: ReceiptOut}),
    )
    def post(self, request: Request) -> Response:
        body = self.read(PreflightIn)
        receipt = services.start_preflight(
            order_of(self, body), by=self.caller.actor, key=self.idempotency_key()
        )
        if self.caller.credential is not Credential.ACT:  # a CI service's network is everybody's
            note_network(self.caller.organisation, address_of(request))
        restates_the_request(request)
        return Response(receipt.body, status=receipt.status, headers={"Location": receipt.body["url"]})


class _One(MemberView):
    def preflight(self, preflight_id: UUID) -> Submission:
        found = queries.preflight_of(self.caller.organisation, preflight_id)
        self.caller.require_harness(found.harness_version.harness_id)
        return found

    def shown(self, preflight_id: UUID) -> Response:
        found = self.preflight(preflight_id)
        face = preflight_face(found)
        show_status(self.request, "submission", ("submission", found.id), face, by=self.caller.actor)
        return Response(StandaloneDetailOut(found).data)


@delivers("submission")
class PreflightDetail(_One):
    permissions: ClassVar = {"GET": Permission.PREFLIGHT_LIST}

    @extend_schema(operation_id="preflight_alone", responses=problems({200: StandaloneDetailOut}))
    def get(self, request: Request, preflight_id: UUID) -> Response:
        return self.shown(preflight_id)


@delivers("submission")
class PreflightCancel(_One):
    permissions: ClassVar = {"POST": Permission.PREFLIGHT_START}

    @extend_schema(
        operation_id="preflight_cancel", request=None, responses=problems({200: StandaloneDetailOut})
    )
    def post(self, request: Request, preflight_id: UUID) -> Response:
        services.cancel(self.preflight(preflight_id).id, by=self.caller.actor)
        return self.shown(preflight_id)


@delivers("preflight")
class PreflightRuns(_One):
    permissions: ClassVar = {"GET": Permission.PREFLIGHT_LIST}

    @extend_schema(operation_id="preflight_runs", responses=problems({200: PreflightOut}))
    def get(self, request: Request, preflight_id: UUID) -> Response:
        body = PreflightOut(queries.preflight_report(self.preflight(preflight_id))).data
        hand_out(request, "preflight", preflight_id, body, by=self.caller.actor)
        return Response(body)
