"""Offers of re-runs over the API: what may be run on a new version outside the quota."""

from __future__ import annotations

from typing import Any, ClassVar

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.permissions import Permission
from submissions import queries
from submissions.api.base import MemberView
from submissions.api.openapi import problems
from submissions.delivery import delivers, show_status
from submissions.models import RerunOffer
from submissions.reruns.queries import offers_of


class RerunOfferOut(serializers.Serializer[Any]):
    """One combination that was published on the former version, and the version that it may be run on."""

    id = serializers.UUIDField(help_text="What `rerun_offer` of a submission names.")
    state = serializers.ChoiceField(choices=RerunOffer.State.values)
    task_set = serializers.CharField(source="task_set.label")
    harness = serializers.UUIDField(source="harness_version.harness_id")
    harness_version = serializers.UUIDField(source="harness_version_id")
    version = serializers.CharField(source="harness_version.version")
    package_digest = serializers.CharField(help_text="SHA-256 of the package that has to be uploaded again.")
    former = serializers.UUIDField(source="former_id")
    former_task_set = serializers.CharField(source="former.task_set.label")
    offered_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField()
    submission = serializers.UUIDField(source="submission_id", allow_null=True)


class RerunOffersOut(serializers.Serializer[Any]):
    rerun_offers = RerunOfferOut(many=True)


@delivers("quota")
class RerunOffers(MemberView):
    """The organisation's own, newest first; a token of one harness sees those of that harness."""

    permissions: ClassVar = {"GET": Permission.QUOTA_READ}

    @extend_schema(operation_id="rerun_offers", responses=problems({200: RerunOffersOut}))
    def get(self, request: Request) -> Response:
        organisation, harness_id = self.caller.organisation, self.caller.harness_id
        harness = queries.harness_of(organisation, harness_id) if harness_id else None
        body = {"rerun_offers": RerunOfferOut(offers_of(organisation, harness=harness), many=True).data}
        show_status(request, "quota", ("organisation", organisation.id), body, by=self.caller.actor)
        return Response(body)
