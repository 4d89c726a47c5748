"""Harnesses and their versions over the API."""

from __future__ import annotations

from typing import Any, ClassVar
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.permissions import Permission
from submissions import queries, services
from submissions.api import paging
from submissions.api.base import MemberView
from submissions.api.openapi import CREATES, problems
from submissions.api.paging import PAGED
from submissions.api.serializers import (
    HarnessesOut,
    HarnessIn,
    HarnessOut,
    VersionDetailOut,
    VersionIn,
    VersionOut,
    VersionsOut,
)
from submissions.delivery import delivers, hand_out
from submissions.models import Harness
from submissions.relations.services import Owner


class Harnesses(MemberView):
    """The organisation's harnesses."""

    permissions: ClassVar = {"GET": Permission.HARNESS_READ, "POST": Permission.HARNESS_WRITE}

    @extend_schema(operation_id="harness_list", parameters=PAGED, responses=problems({200: HarnessesOut}))
    def get(self, request: Request) -> Response:
        bound = self.caller.harness_id
        rows = [
            row for row in queries.harnesses_of(self.caller.organisation) if bound is None or row.id == bound
        ]
        page = paging.after(rows, paging.asked(request), lambda row: row.id)
        return paging.answer(request, "harnesses", HarnessOut(page.rows, many=True).data, page)

    @extend_schema(
        operation_id="harness_create",
        request=HarnessIn,
        parameters=CREATES,
        responses=problems({201: HarnessOut}),
    )
    def post(self, request: Request) -> Response:
        self.caller.require_harness(None)
        body = self.read(HarnessIn)

        def act() -> tuple[int, dict[str, Any]]:
            named = body.get("owner")
            harness = services.register_harness(
                self.caller.organisation,
                **{**body, "owner": Owner(**named) if named else None},
                by=self.caller.actor,
            )
            return 201, dict(HarnessOut(harness).data)

        answer = services.once(self.caller.organisation, "harnesses", self.idempotency_key(), body, act)
        return Response(answer.body, status=answer.status)


class HarnessDetail(MemberView):
    permissions: ClassVar = {"GET": Permission.HARNESS_READ}

    @extend_schema(operation_id="harness", responses=problems({200: HarnessOut}))
    def get(self, request: Request, harness_id: UUID) -> Response:
        return Response(HarnessOut(self.harness(harness_id)).data)

    def harness(self, harness_id: UUID) -> Harness:
        found = queries.harness_of(self.caller.organisation, harness_id)
        self.caller.require_harness(found.id)
        return found


class HarnessVersions(HarnessDetail):
    """The versions of one harness."""

    permissions: ClassVar = {"GET": Permission.HARNESS_READ, "POST": Permission.HARNESS_WRITE}

    @extend_schema(operation_id="version_list", parameters=PAGED, responses=problems({200: VersionsOut}))
    def get(self, request: Request, harness_id: UUID) -> Response:
        rows = queries.harness_versions(self.harness(harness_id))
        page = paging.after(rows, paging.asked(request), lambda row: row.id)
        return paging.answer(request, "versions", VersionOut(page.rows, many=True).data, page)

    @extend_schema(
        operation_id="version_create",
        request=VersionIn,
        parameters=CREATES,
        responses=problems({201: VersionDetailOut}),
    )
    def post(self, request: Request, harness_id: UUID) -> Response:
        harness = self.harness(harness_id)
        body = self.read(VersionIn)

        def act() -> tuple[int, dict[str, Any]]:
            row = services.add_version(harness, **body, by=self.caller.actor)
            return 201, dict(VersionDetailOut(row).data)

        sent = {**body, "harness": str(harness.id)}
        answer = services.once(self.caller.organisation, "versions", self.idempotency_key(), sent, act)
        return Response(answer.body, status=answer.status)


@delivers("card")
class VersionDetail(MemberView):
    permissions: ClassVar = {"GET": Permission.HARNESS_READ}

    @extend_schema(operation_id="version", responses=problems({200: VersionDetailOut}))
    def get(self, request: Request, version_id: UUID) -> Response:
        found = queries.version_of(self.caller.organisation, version_id)
        self.caller.require_harness(found.harness_id)
        body = VersionDetailOut(found).data
        hand_out(request, "card", found.id, body["card"], by=self.caller.actor)
        return Response(body)
