"""Addresses of appeals below /api/v1/."""

from django.urls import path

from governance.appeals.api import AppealDetail, Appeals, AppealWithdraw, AppealWord

urlpatterns = [
    path("appeals", Appeals.as_view(), name="api-appeals"),
    path("appeals/<uuid:appeal_id>", AppealDetail.as_view(), name="api-appeal"),
    path("appeals/<uuid:appeal_id>/word", AppealWord.as_view(), name="api-appeal-word"),
    path("appeals/<uuid:appeal_id>/withdraw", AppealWithdraw.as_view(), name="api-appeal-withdraw"),
]
