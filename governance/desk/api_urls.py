"""Addresses of holds below /api/v1/."""

from django.urls import path

from governance.desk.api import SubmissionHold

urlpatterns = [
    path("submissions/<uuid:submission_id>/hold", SubmissionHold.as_view(), name="api-submission-hold"),
]
