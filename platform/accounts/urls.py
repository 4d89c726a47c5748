"""A person's own pages; signing in and up is allauth's, under the same prefix."""

from django.urls import path

from accounts import views

app_name = "accounts"
urlpatterns = [
    path("account/suspended/", views.suspended, name="suspended"),
    path("account/organisation/", views.organisation, name="organisation"),
]
