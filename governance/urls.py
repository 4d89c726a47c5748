"""A vendor's pages of governance."""

from django.urls import path

from governance import views
from governance.confirmation import views as confirming

app_name = "governance"
urlpatterns = [
    path("rules/held-out/", views.held_out_rules, name="held_out_rules"),
    path("v/information/", views.account, name="information"),
    path("v/submissions/<uuid:submission>/confirmation/", confirming.confirmation, name="confirmation"),
    path(
        "v/submissions/<uuid:submission>/confirmation/withdraw/",
        confirming.withdraw,
        name="withdraw_confirmation",
    ),
]
