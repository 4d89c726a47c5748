"""The result of one submission over the API: what the release function returned, and nothing else."""

from __future__ import annotations

from typing import Any, ClassVar
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.permissions import Permission
from evaluation.hosts.policies import SpeedClass
from evaluation.upstreams.models import Exposure
from governance import ledger, queries
from governance.correcting.models import Cause
from governance.models import DomainAggregate, LeakCharge
from governance.records import queries as records
from submissions.api.base import MemberView
from submissions.api.openapi import problems
from submissions.delivery import PRECISION, delivers, hand_out, show_status
from submissions.problems import Code, refuse
from submissions.queries import submission_of


class DomainOut(serializers.Serializer[Any]):
    """Points on the 1-point grid ± half width; bounds only where a result is incomplete.

    Without a value `reason` says why, and `earlier` names the submission of yours that has one.
    """

    value = serializers.IntegerField(allow_null=True, min_value=0, max_value=100)
    h = serializers.IntegerField(allow_null=True, min_value=1)
    status = serializers.CharField()
    reason = serializers.ChoiceField(choices=DomainAggregate.Reason.values, required=False)
    earlier = serializers.UUIDField(required=False)
    low = serializers.IntegerField(required=False)
    high = serializers.IntegerField(required=False)


class CorrectedOut(serializers.Serializer[Any]):
    """Since when the values are corrected ones, why, and what was shown before."""

    at = serializers.DateTimeField()
    cause = serializers.ChoiceField(choices=Cause.values)
    former = serializers.DictField(child=serializers.DictField(child=serializers.IntegerField()))


class RevisionOut(serializers.Serializer[Any]):
    """Held-out tasks of the version under revision, and by domain the most points that its value could differ by."""

    tasks = serializers.IntegerField()
    at_most = serializers.DictField(child=serializers.IntegerField())


class ModelOut(serializers.Serializer[Any]):
    """A model that the run could call."""

    role = serializers.CharField()
    snapshot = serializers.CharField()
    exposure = serializers.ChoiceField(choices=Exposure.values)


class ResultOut(serializers.Serializer[Any]):
    submission = serializers.UUIDField()
    domains = serializers.DictField(child=DomainOut())
    enterprise = DomainOut()
    coverage = serializers.CharField()
    complete = serializers.BooleanField()
    episodes = serializers.IntegerField()
    released_at = serializers.DateTimeField()
    policy = serializers.CharField()
    versions = serializers.DictField(child=serializers.CharField())
    isolation = serializers.ListField(child=serializers.CharField())
    """Isolation grades of all hosts of the run, each once."""
    speed = serializers.ListField(child=serializers.ChoiceField(choices=[one.value for one in SpeedClass]))
    """Speed classes of the same hosts."""
    models = ModelOut(many=True)
    exposure = serializers.ChoiceField(choices=Exposure.values)
    """The most exposed class of the models; `sealed` where it calls none."""
    confirmed_in = serializers.CharField(required=False)
    """The dated release whose confirmed values these are, in place of the first ones."""
    sides = serializers.DictField(
        child=serializers.DictField(child=serializers.IntegerField()), required=False
    )
    under_revision = RevisionOut(required=False)
    corrected = CorrectedOut(required=False)


@delivers("result")
class Result(MemberView):
    """Four domain values, the enterprise mean, the coverage. Reading them is an event before the body is sent."""

    permissions: ClassVar = {"GET": Permission.RESULT_READ}

    @extend_schema(responses=problems({200: ResultOut}), operation_id="result")
    def get(self, request: Request, submission_id: UUID) -> Response:
        self.caller.require_submission(submission_id)
        submission = submission_of(self.caller.organisation, submission_id)
        self.caller.require_harness(submission.harness_version.harness_id)
        result = queries.released_result(submission)
        if result is None:
            raise refuse(Code.RESULT_NOT_RELEASED, state=submission.state)
        shown = result.as_dict()
        if revision := records.revision_of(result, submission.task_set):
            shown["under_revision"] = revision
        hand_out(request, "result", submission.id, shown, by=self.caller.actor, precision=PRECISION)
        return Response(shown)


class LeakChargeOut(serializers.Serializer[Any]):
    submission = serializers.UUIDField()
    kind = serializers.ChoiceField(choices=LeakCharge.Kind.values)
    bits = serializers.CharField()
    charged_at = serializers.DateTimeField()


class LeakAccountOut(serializers.Serializer[Any]):
    """Amounts are decimals with one place, rounded up."""

    task_set = serializers.CharField()
    budget_bits = serializers.CharField()
    spent_bits = serializers.CharField()
    left_bits = serializers.CharField()
    charges = LeakChargeOut(many=True)
    other_bits = serializers.CharField()


class InformationOut(serializers.Serializer[Any]):
    accounts = LeakAccountOut(many=True)


@delivers("quota")
class Information(MemberView):
    """What the organisation and those linked with it were told of each open version, out of its budget."""

    permissions: ClassVar = {"GET": Permission.QUOTA_READ}

    @extend_schema(responses=problems({200: InformationOut}), operation_id="information")
    def get(self, request: Request) -> Response:
        organisation = self.caller.organisation
        accounts = [account.as_dict() for account in ledger.accounts_of(organisation, self.caller.harness_id)]
        show_status(request, "quota", ("organisation", organisation.id), accounts, by=self.caller.actor)
        return Response({"accounts": accounts})
