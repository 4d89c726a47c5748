"""A vendor's pages of appeals."""

from django.urls import path

from governance.appeals import views

app_name = "appeals"
urlpatterns = [
    path("v/appeals/", views.appeals, name="appeals"),
    path("v/appeals/new/", views.new_appeal, name="new_appeal"),
    path("v/appeals/<uuid:appeal>/", views.appeal, name="appeal"),
    path("v/appeals/<uuid:appeal>/word/", views.reveal, name="reveal_word"),
    path("v/appeals/<uuid:appeal>/withdraw/", views.withdraw, name="withdraw_appeal"),
]
