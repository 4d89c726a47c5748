"""Whether the platform can do its work: for load balancers, monitors and the banner on pages."""

from __future__ import annotations

from drf_spectacular.utils import OpenApiTypes, extend_schema
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from evaluation import queries


class HealthView(APIView):
    """200 while the database answers; `status` is `degraded` where no worker of a queue has shown a sign of life."""

    authentication_classes = ()
    permission_classes = (AllowAny,)

    @extend_schema(responses=OpenApiTypes.OBJECT, auth=[], operation_id="health")
    def get(self, request: Request) -> Response:
        missing = queries.queues_without_worker()
        return Response({"status": "degraded" if missing else "ok", "queues_without_worker": missing})
