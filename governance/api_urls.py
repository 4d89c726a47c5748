"""Addresses of governance below /api/v1/."""

from django.urls import path

from governance.api import Information, Result
from governance.confirmation.api import Confirmation, ConfirmationWithdraw

urlpatterns = [
    path("submissions/<uuid:submission_id>/result", Result.as_view(), name="api-result"),
    path("submissions/<uuid:submission_id>/confirmation", Confirmation.as_view(), name="api-confirmation"),
    path(
        "submissions/<uuid:submission_id>/confirmation/withdraw",
        ConfirmationWithdraw.as_view(),
        name="api-confirmation-withdraw",
    ),
    path("information", Information.as_view(), name="api-information"),
]
