"""Whether the platform can do its work: for load balancers, monitors and the banner on pages."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from evaluation.alerts.queries import standstill


class HealthOut(serializers.Serializer[object]):
    """`oldest_wait_minutes` is how long anybody has waited, in steps of ten; both are null while nothing is missing."""

    status = serializers.ChoiceField(choices=["ok", "degraded"])
    queues_without_worker = serializers.ListField(child=serializers.CharField())
    evaluation_paused_since = serializers.DateTimeField(allow_null=True)
    oldest_wait_minutes = serializers.IntegerField(allow_null=True)


class HealthView(APIView):
    """200 while the database answers; `status` is `degraded` where no worker of a queue has shown a sign of life."""

    authentication_classes = ()
    permission_classes = (AllowAny,)

    @extend_schema(responses=HealthOut, auth=[], operation_id="health")
    def get(self, request: Request) -> Response:
        found = standstill()
        body = {
            "status": "degraded" if found else "ok",
            "queues_without_worker": list(found.queues) if found else [],
            "evaluation_paused_since": found.since if found else None,
            "oldest_wait_minutes": int(found.oldest_wait.total_seconds() // 60) if found else None,
        }
        return Response(HealthOut(body).data)
