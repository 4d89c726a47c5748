"""The hold of a submission over the API: what its vendor is told, and nothing of what it rests on."""

from __future__ import annotations

from typing import Any, ClassVar
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.permissions import Permission
from governance.desk.models import Hold
from governance.desk.rules import RULES
from governance.desk.telling import told
from submissions.api.base import MemberView
from submissions.api.openapi import problems
from submissions.delivery import delivers, show_status
from submissions.problems import Code, refuse
from submissions.queries import submission_of


class HoldRuleOut(serializers.Serializer[Any]):
    code = serializers.ChoiceField(choices=sorted(RULES))
    name = serializers.CharField()
    sentence = serializers.CharField()


class HoldOut(serializers.Serializer[Any]):
    """`until` is null once the hold is over; `then` is empty once the result is released."""

    state = serializers.ChoiceField(choices=Hold.State.values)
    rule = HoldRuleOut()
    now = serializers.CharField()
    then = serializers.CharField(allow_blank=True)
    placed_at = serializers.DateTimeField()
    until = serializers.DateTimeField(allow_null=True)
    ended_at = serializers.DateTimeField(allow_null=True)
    ground = serializers.CharField(allow_blank=True)
    may_appeal = serializers.BooleanField()


@delivers("submission")
class SubmissionHold(MemberView):
    """404 where the submission was never held."""

    permissions: ClassVar = {"GET": Permission.SUBMISSION_READ}

    @extend_schema(responses=problems({200: HoldOut}), operation_id="submission_hold")
    def get(self, request: Request, submission_id: UUID) -> Response:
        self.caller.require_submission(submission_id)
        submission = submission_of(self.caller.organisation, submission_id)
        self.caller.require_harness(submission.harness_version.harness_id)
        found = told(submission)
        if found is None:
            raise refuse(Code.NOT_FOUND)
        body = HoldOut(found.as_dict()).data
        subject = ("submission", submission.id)
        show_status(request, "submission", subject, body, by=self.caller.actor)
        return Response(body)
