"""A vendor's pages of governance."""

from django.urls import path

from governance import views

app_name = "governance"
urlpatterns = [path("v/information/", views.account, name="information")]
