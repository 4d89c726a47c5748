"""Confirmation runs over the API: ask for one, see how it stands, withdraw it. Values come with the result."""

from __future__ import annotations

from typing import Any, ClassVar
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.permissions import Permission
from governance.confirmation import published, queries, services
from governance.confirmation.models import ConfirmationRun
from governance.confirmation.policies import Cause
from submissions.api.base import MemberView
from submissions.api.openapi import CREATES, problems
from submissions.delivery import delivers, show_status
from submissions.models import Submission
from submissions.queries import submission_of


class ConfirmationIn(serializers.Serializer[Any]):
    """The consent to publish is given here, before anything runs; without it the request is refused."""

    publication_consent = serializers.BooleanField()


class ConfirmationOut(serializers.Serializer[Any]):
    """`published_in` names the dated release that shows it, or counts it as withdrawn."""

    id = serializers.UUIDField()
    submission = serializers.UUIDField()
    state = serializers.ChoiceField(choices=ConfirmationRun.State.values)
    since = serializers.DateTimeField()
    cause = serializers.ChoiceField(choices=[cause.value for cause in Cause])
    requested_at = serializers.DateTimeField()
    published_in = serializers.CharField(allow_null=True)
    may_withdraw = serializers.BooleanField()


class _OfSubmission(MemberView):
    def submission(self, submission_id: UUID) -> Submission:
        self.caller.require_submission(submission_id)
        found = submission_of(self.caller.organisation, submission_id)
        self.caller.require_harness(found.harness_version.harness_id)
        return found

    def shown(self, submission: Submission, status: int = 200) -> Response:
        body = ConfirmationOut(published.face(queries.confirmation_of(submission))).data
        subject = ("submission", submission.id)
        show_status(self.request, "submission", subject, body, by=self.caller.actor)
        return Response(body, status=status)


@delivers("submission")
class Confirmation(_OfSubmission):
    permissions: ClassVar = {"GET": Permission.SUBMISSION_READ, "POST": Permission.SUBMISSION_CHOICE}

    @extend_schema(operation_id="confirmation", responses=problems({200: ConfirmationOut}))
    def get(self, request: Request, submission_id: UUID) -> Response:
        return self.shown(self.submission(submission_id))

    @extend_schema(
        operation_id="confirmation_request",
        request=ConfirmationIn,
        parameters=CREATES,
        responses=problems({202: ConfirmationOut}),
    )
    def post(self, request: Request, submission_id: UUID) -> Response:
        submission = self.submission(submission_id)
        consent = self.read(ConfirmationIn)["publication_consent"]
        services.request(submission, consent=consent, by=self.caller.actor, key=self.idempotency_key())
        return self.shown(submission, status=202)


@delivers("submission")
class ConfirmationWithdraw(_OfSubmission):
    """Withdrawing twice is withdrawing once, so no key is needed."""

    permissions: ClassVar = {"POST": Permission.SUBMISSION_CHOICE}

    @extend_schema(
        operation_id="confirmation_withdraw", request=None, responses=problems({200: ConfirmationOut})
    )
    def post(self, request: Request, submission_id: UUID) -> Response:
        submission = self.submission(submission_id)
        services.withdraw(queries.confirmation_of(submission).id, by=self.caller.actor)
        return self.shown(submission)
