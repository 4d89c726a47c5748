"""Addresses of governance below /api/v1/."""

from django.urls import path

from governance.api import Result

urlpatterns = [path("submissions/<uuid:submission_id>/result", Result.as_view(), name="api-result")]
