"""A person's own pages; signing in and up is allauth's, under the same prefix."""

from django.urls import path

from accounts import views
from accounts.notices import views as notices

app_name = "accounts"
urlpatterns = [
    path("account/suspended/", views.suspended, name="suspended"),
    path("account/organisation/", views.organisation, name="organisation"),
    path("account/notices/", notices.notices, name="notices"),
    path("account/notices/read/", notices.read, name="notices_read"),
    path("account/notices/settings/", notices.preferences, name="notice_settings"),
]
