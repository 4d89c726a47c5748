"""The default of the API: nobody may."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rest_framework.permissions import BasePermission

if TYPE_CHECKING:  # the framework's views import this module
    from rest_framework.request import Request
    from rest_framework.views import APIView


class DenyAll(BasePermission):
    """Refuses everyone; a view names the permission it wants instead."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        return False
