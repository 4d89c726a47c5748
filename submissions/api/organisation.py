"""How the caller's organisation stands: the same row and the same function as on its pages and in admission."""

from __future__ import annotations

from typing import ClassVar

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.permissions import Permission
from accounts.registration.queries import status_of
from submissions.api.base import MemberView
from submissions.api.openapi import OBJECT


class OrganisationStatus(MemberView):
    """Verification with its end, the registration under review with its deadline, and the participation rules."""

    permissions: ClassVar = {"GET": Permission.QUOTA_READ}

    @extend_schema(operation_id="organisation", responses=OBJECT)
    def get(self, request: Request) -> Response:
        return Response(status_of(self.caller.organisation).said())
