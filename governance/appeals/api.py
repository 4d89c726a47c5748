"""Appeals over the API: the list, filing one, how one stands, withdrawing it."""

from __future__ import annotations

from typing import Any, ClassVar
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.permissions import Permission
from benchmark.models import Domain, TaskSetVersion
from governance.appeals import queries, services
from governance.appeals.drawing import LONGEST_WORD
from governance.appeals.models import Appeal, Recheck, RuledEffect, Ruling
from governance.appeals.policies import Owner
from governance.appeals.queries import Claim
from governance.appeals.services.filing import LONGEST_GROUNDS
from submissions.api.base import MemberView, referenced
from submissions.api.openapi import CREATES, problems
from submissions.api.serializers import StrictSerializer
from submissions.delivery import delivers, hand_out, show_status
from submissions.problems import Code, refuse
from submissions.queries import submission_of


class AppealIn(StrictSerializer):
    """`task_set` is needed where no submission is named; `domain` and `commitment` are for a score only."""

    subject = serializers.ChoiceField(Appeal.Subject.values)
    submission = serializers.UUIDField(required=False, allow_null=True)
    task_set = serializers.CharField(required=False, max_length=64)
    domain = serializers.ChoiceField(Domain.values, required=False)
    grounds = serializers.CharField(max_length=LONGEST_GROUNDS)
    commitment = serializers.CharField(required=False, max_length=64)


class RulingOut(serializers.Serializer[Any]):
    outcome = serializers.ChoiceField(choices=Ruling.Outcome.values)
    text = serializers.CharField()
    ruled_at = serializers.DateTimeField()


class EffectOut(serializers.Serializer[Any]):
    kind = serializers.ChoiceField(choices=RuledEffect.Kind.values)
    done_at = serializers.DateTimeField(allow_null=True)
    result = serializers.CharField(allow_null=True)


class RecheckOut(serializers.Serializer[Any]):
    """`agreement`, `low` and `high` in points; null before it is shown, or where no budget covers the charge."""

    state = serializers.ChoiceField(choices=Recheck.State.values)
    platform_commitment = serializers.CharField()
    nonce = serializers.CharField(allow_null=True)
    word_due_at = serializers.DateTimeField(allow_null=True)
    runs = serializers.IntegerField(allow_null=True)
    agreement = serializers.IntegerField(allow_null=True)
    low = serializers.IntegerField(allow_null=True)
    high = serializers.IntegerField(allow_null=True)
    is_below = serializers.BooleanField(allow_null=True)
    threshold = serializers.IntegerField()


class WordIn(StrictSerializer):
    word = serializers.CharField(max_length=LONGEST_WORD, trim_whitespace=False)


class AppealOut(serializers.Serializer[Any]):
    """`turn` says whose turn it is, `due_at` until when; both are null at an end."""

    id = serializers.UUIDField()
    subject = serializers.ChoiceField(choices=Appeal.Subject.values)
    task_set = serializers.CharField()
    submission = serializers.UUIDField(allow_null=True)
    domain = serializers.CharField(allow_null=True)
    grounds = serializers.CharField()
    state = serializers.ChoiceField(choices=Appeal.State.values)
    since = serializers.DateTimeField()
    filed_at = serializers.DateTimeField()
    due_at = serializers.DateTimeField(allow_null=True)
    escalated = serializers.BooleanField()
    turn = serializers.ChoiceField(choices=[owner.value for owner in Owner], allow_null=True)
    may_withdraw = serializers.BooleanField()
    recheck = RecheckOut(allow_null=True)
    ruling = RulingOut(allow_null=True)
    effects = EffectOut(many=True)


class AppealsOut(serializers.Serializer[Any]):
    appeals = AppealOut(many=True)


class _AppealView(MemberView):
    def own(self, appeal_id: UUID) -> Appeal:
        """Raises NotVisible; Refused where the credential is limited to another harness."""
        row = queries.appeal_of(self.caller.organisation, appeal_id)
        self.caller.require_submission(row.submission_id)
        if row.submission is not None:
            self.caller.require_harness(row.submission.harness_version.harness_id)
        else:
            self.caller.require_harness(None)
        return row

    def shown(self, row: Appeal, status: int = 200) -> Response:
        body = AppealOut(queries.face(row)).data
        hand_out(self.request, "appeal", row.id, body, by=self.caller.actor)
        return Response(body, status=status)


@delivers("quota", "appeal")
class Appeals(_AppealView):
    permissions: ClassVar = {"GET": Permission.QUOTA_READ, "POST": Permission.SUBMISSION_CHOICE}

    @extend_schema(operation_id="appeals", responses=problems({200: AppealsOut}))
    def get(self, request: Request) -> Response:
        organisation = self.caller.organisation
        rows = queries.appeals_of(organisation, self.caller.harness_id)
        body = AppealsOut({"appeals": [queries.face(row) for row in rows]}).data
        show_status(request, "quota", ("organisation", organisation.id), body, by=self.caller.actor)
        return Response(body)

    @extend_schema(
        operation_id="appeal_file",
        request=AppealIn,
        parameters=CREATES,
        responses=problems({201: AppealOut}),
    )
    def post(self, request: Request) -> Response:
        row = services.file(self._claim(), by=self.caller.actor, key=self.idempotency_key())
        return self.shown(row, status=201)

    def _claim(self) -> Claim:
        body = self.read(AppealIn)
        submission = None
        if body.get("submission"):
            submission = referenced("submission", submission_of, self.caller.organisation, body["submission"])
            self.caller.require_submission(submission.id)
        self.caller.require_harness(submission.harness_version.harness_id if submission else None)
        version: TaskSetVersion | None = submission.task_set if submission else None
        if version is None:
            known = {row.label: row for row in queries.versions_with_appeals()}
            version = known.get(body.get("task_set", ""))
        if version is None:
            raise refuse(Code.UNKNOWN_REFERENCE, field="task_set")
        return Claim(
            organisation=self.caller.organisation,
            subject=body["subject"],
            task_set=version,
            submission=submission,
            domain=body.get("domain", ""),
            grounds=body["grounds"],
            commitment=body.get("commitment", ""),
        )


@delivers("appeal")
class AppealDetail(_AppealView):
    permissions: ClassVar = {"GET": Permission.SUBMISSION_READ}

    @extend_schema(operation_id="appeal", responses=problems({200: AppealOut}))
    def get(self, request: Request, appeal_id: UUID) -> Response:
        return self.shown(self.own(appeal_id))


@delivers("appeal")
class AppealWithdraw(_AppealView):
    """Withdrawing twice is withdrawing once, so no key is needed."""

    permissions: ClassVar = {"POST": Permission.SUBMISSION_CHOICE}

    @extend_schema(operation_id="appeal_withdraw", request=None, responses=problems({200: AppealOut}))
    def post(self, request: Request, appeal_id: UUID) -> Response:
        row = self.own(appeal_id)
        services.withdraw(row.id, by=self.caller.actor)
        return self.shown(queries.appeal_of(self.caller.organisation, row.id))


@delivers("appeal")
class AppealWord(_AppealView):
    """Giving the same word twice is giving it once, so no key is needed."""

    permissions: ClassVar = {"POST": Permission.SUBMISSION_CHOICE}

    @extend_schema(operation_id="appeal_word", request=WordIn, responses=problems({200: AppealOut}))
    def post(self, request: Request, appeal_id: UUID) -> Response:
        row = self.own(appeal_id)
        services.reveal(row.id, word=self.read(WordIn)["word"], by=self.caller.actor)
        return self.shown(queries.appeal_of(self.caller.organisation, row.id))
