"""The default of the API: nobody may."""

from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.views import APIView


class DenyAll(BasePermission):
    """Refuses everyone; a view names the permission it wants instead."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        return False
