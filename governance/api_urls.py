"""Addresses of governance below /api/v1/."""

from django.urls import path

from governance.api import Information, Result

urlpatterns = [
    path("submissions/<uuid:submission_id>/result", Result.as_view(), name="api-result"),
    path("information", Information.as_view(), name="api-information"),
]
