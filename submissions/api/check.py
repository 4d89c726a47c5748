"""Asking before submitting: everything but the admission. Nothing is changed, nothing is charged."""

from __future__ import annotations

from typing import Any, ClassVar

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.permissions import Permission
from submissions import queries
from submissions.api.base import MemberView, referenced
from submissions.api.openapi import problems
from submissions.api.serializers import StrictSerializer
from submissions.api.shapes import CheckOut
from submissions.delivery import delivers, show_status
from submissions.problems import Code
from submissions.problems.handler import problem_body
from submissions.queries import Forecast, Intent
from submissions.reruns.queries import offer_of


class CheckIn(StrictSerializer):
    """As for a submission; the upload may come later."""

    harness_version = serializers.UUIDField()
    task_set = serializers.RegexField(r"^[0-9A-Za-z._-]{1,32}\Z")
    upload = serializers.UUIDField(required=False)
    publication_consent = serializers.BooleanField(default=False)
    rerun_offer = serializers.UUIDField(required=False)


@delivers("quota")
class SubmissionCheck(MemberView):
    """What submitting would answer at this moment, and what it would cost."""

    permissions: ClassVar = {"POST": Permission.QUOTA_READ}

    @extend_schema(operation_id="submission_check", request=CheckIn, responses=problems({200: CheckOut}))
    def post(self, request: Request) -> Response:
        body = self.read(CheckIn)
        organisation, actor = self.caller.organisation, self.caller.actor
        version = referenced("harness_version", queries.version_of, organisation, body["harness_version"])
        self.caller.require_harness(version.harness_id)
        wanted, offer = body.get("upload"), body.get("rerun_offer")
        intent = Intent(
            organisation=organisation,
            harness_version=version,
            task_set=referenced("task_set", queries.task_set_labelled, body["task_set"]),
            upload=referenced("upload", queries.upload_of, organisation, wanted) if wanted else None,
            offer=referenced("rerun_offer", offer_of, organisation, offer) if offer else None,
        )
        shown = statement(queries.forecast(intent, by=actor))
        lasting = {**shown, "quota": {**(shown["quota"] or {}), "now": None}, "estimate": None}
        show_status(request, "quota", ("organisation", organisation.id), lasting, by=actor)
        return Response(shown)


def statement(found: Forecast) -> dict[str, Any]:
    """The forecast as the API gives it."""
    return {
        "allowed": found.refusal is None,
        "refusal": problem_body(found.refusal) if found.refusal else None,
        "quota": found.window.shown() if found.window else None,
        "estimate": _estimate(found) if found.refusal is None else None,
    }


def _estimate(found: Forecast) -> dict[str, Any]:
    window, earlier = found.window, found.earlier
    if earlier is not None:
        return {"note": Code.IDENTICAL_EARLIER.value, "uses": 0, "submission": earlier.address}
    assert window is not None
    if found.offer is not None:
        return {
            "note": Code.ADMITTED.value,
            "uses": 0,
            "rerun_offer": str(found.offer.pk),
            "remaining_after": window.remaining,
            "cooldown_until": None,
            "runs_per_task": window.terms.runs_per_task,
        }
    until = window.now + window.terms.cooldown if window.terms.cooldown_seconds else None
    return {
        "note": Code.ADMITTED.value,
        "uses": 1,
        "remaining_after": window.remaining - 1,
        "cooldown_until": until.isoformat() if until else None,
        "runs_per_task": window.terms.runs_per_task,
    }
