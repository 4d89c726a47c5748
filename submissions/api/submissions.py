"""Submissions over the API: submit, watch, cancel, choose, read the preflight."""

from __future__ import annotations

from typing import ClassVar
from uuid import UUID

from django.http import HttpResponse
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.linking.services import note_network
from accounts.permissions import Credential, Permission
from submissions import queries, services
from submissions.api import paging, versioning
from submissions.api.base import MemberView
from submissions.api.openapi import CREATES, problems
from submissions.api.ordering import order_of
from submissions.api.paging import PAGED, PageIn
from submissions.api.rates import address_of
from submissions.api.serializers import (
    ChoiceIn,
    PreflightOut,
    ReceiptOut,
    SubmissionDetailOut,
    SubmissionIn,
    SubmissionOut,
    SubmissionsOut,
    TransparencyReceiptOut,
)
from submissions.delivery import delivers, hand_out, restates_the_request, show_status
from submissions.models import Submission
from submissions.receipts import hand_out_receipt, receipt_file, receipt_of


class ListIn(PageIn):
    """Query of the list; `before` is the last id of the page before, as `cursor` is."""

    harness = serializers.UUIDField(required=False)
    state = serializers.ChoiceField(choices=Submission.State.values, required=False)
    before = serializers.UUIDField(required=False)


FILTERS = [
    *PAGED,
    OpenApiParameter("harness", UUID),
    OpenApiParameter("state", str, enum=Submission.State.values),
    OpenApiParameter("before", UUID, deprecated=True, description=f"Use {versioning.BEFORE.instead}."),
]


@delivers("submission")
class Submissions(MemberView):
    permissions: ClassVar = {"GET": Permission.SUBMISSION_LIST, "POST": Permission.SUBMISSION_SUBMIT}

    @extend_schema(
        operation_id="submission_list",
        parameters=FILTERS,
        responses=problems({200: SubmissionsOut}),
    )
    def get(self, request: Request) -> Response:
        asked = paging.asked(request, ListIn)
        if "before" in asked:
            versioning.used(request, versioning.BEFORE)
        harness_id = asked.get("harness") or self.caller.harness_id
        self.caller.require_harness(harness_id)
        harness = queries.harness_of(self.caller.organisation, harness_id) if harness_id else None
        rows = queries.submissions_of(
            self.caller.organisation,
            harness=harness,
            state=asked.get("state", ""),
            before=asked.get("cursor") or asked.get("before"),
            limit=asked["limit"] + 1,
        )
        page = paging.cut(rows, asked["limit"], lambda row: row.id)
        answer = paging.answer(request, "submissions", SubmissionOut(page.rows, many=True).data, page)
        subject = ("organisation", self.caller.organisation.id)
        show_status(request, "submission", subject, answer.data, by=self.caller.actor)
        return answer

    @extend_schema(
        operation_id="submission_create",
        request=SubmissionIn,
        parameters=CREATES,
        responses=problems({202: ReceiptOut, 200: ReceiptOut}),
    )
    def post(self, request: Request) -> Response:
        body = self.read(SubmissionIn)
        receipt = services.submit(order_of(self, body), by=self.caller.actor, key=self.idempotency_key())
        if self.caller.credential is not Credential.ACT:  # a CI service's network is everybody's
            note_network(self.caller.organisation, address_of(request))
        restates_the_request(request)
        return Response(receipt.body, status=receipt.status, headers={"Location": receipt.body["url"]})


class _One(MemberView):
    def submission(self, submission_id: UUID) -> Submission:
        self.caller.require_submission(submission_id)
        found = queries.submission_of(self.caller.organisation, submission_id)
        self.caller.require_harness(found.harness_version.harness_id)
        return found

    def shown(self, submission_id: UUID) -> Response:
        body = SubmissionDetailOut(self.submission(submission_id)).data
        subject = ("submission", submission_id)
        show_status(self.request, "submission", subject, body, by=self.caller.actor)
        return Response(body)


@delivers("submission")
class SubmissionDetail(_One):
    permissions: ClassVar = {"GET": Permission.SUBMISSION_READ}

    @extend_schema(operation_id="submission", responses=problems({200: SubmissionDetailOut}))
    def get(self, request: Request, submission_id: UUID) -> Response:
        return self.shown(submission_id)


@delivers("submission")
class SubmissionCancel(_One):
    permissions: ClassVar = {"POST": Permission.SUBMISSION_CANCEL}

    @extend_schema(
        operation_id="submission_cancel", request=None, responses=problems({200: SubmissionDetailOut})
    )
    def post(self, request: Request, submission_id: UUID) -> Response:
        services.cancel(self.submission(submission_id).id, by=self.caller.actor)
        return self.shown(submission_id)


@delivers("submission")
class SubmissionChoice(_One):
    permissions: ClassVar = {"POST": Permission.SUBMISSION_CHOICE}

    @extend_schema(
        operation_id="submission_choose", request=ChoiceIn, responses=problems({200: SubmissionDetailOut})
    )
    def post(self, request: Request, submission_id: UUID) -> Response:
        submission = self.submission(submission_id)
        services.choose(submission.id, self.read(ChoiceIn)["choice"], by=self.caller.actor)
        return self.shown(submission_id)


@delivers("receipt")
class SubmissionReceipt(_One):
    """Proofs that the admission, and later the release, are in the transparency log. Checked offline."""

    permissions: ClassVar = {"GET": Permission.RECEIPT_READ}

    @extend_schema(operation_id="receipt", responses=problems({200: TransparencyReceiptOut}))
    def get(self, request: Request, submission_id: UUID) -> HttpResponse:
        receipt = receipt_of(self.submission(submission_id))
        hand_out_receipt(request, receipt, by=self.caller.actor)
        return receipt_file(receipt)


@delivers("preflight")
class SubmissionPreflight(_One):
    permissions: ClassVar = {"GET": Permission.PREFLIGHT_READ}

    @extend_schema(operation_id="preflight", responses=problems({200: PreflightOut}))
    def get(self, request: Request, submission_id: UUID) -> Response:
        body = PreflightOut(queries.preflight_report(self.submission(submission_id))).data
        hand_out(request, "preflight", submission_id, body, by=self.caller.actor)
        return Response(body)
