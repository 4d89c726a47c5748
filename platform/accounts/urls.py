"""A person's own pages; signing in and up is allauth's, under the same prefix."""

from django.urls import path

from accounts import views
from accounts.members import views as members
from accounts.notices import views as notices
from accounts.registration.urls import urlpatterns as registration
from accounts.security import views as security

app_name = "accounts"
urlpatterns = [
    path("account/suspended/", views.suspended, name="suspended"),
    path("account/organisation/", views.organisation, name="organisation"),
    path("account/notices/", notices.notices, name="notices"),
    path("account/notices/read/", notices.read, name="notices_read"),
    path("account/notices/settings/", notices.preferences, name="notice_settings"),
    path("account/2fa/totp/picture/", security.totp_picture, name="totp_picture"),
    path("account/erase/", security.erase, name="erase"),
    path("account/sessions/", security.session_list, name="sessions"),
    path("account/sessions/end/", security.end_sessions, name="end_sessions"),
    path("account/sessions/<uuid:session>/end/", security.end_session, name="end_session"),
    path("account/2fa/enrolled/", security.enrolled, name="enrolled"),
    path("account/members/", members.members, name="members"),
    path("account/members/<uuid:member>/", members.member, name="member"),
    path("account/members/<uuid:member>/end/", members.end_member, name="end_member"),
    path("account/members/<uuid:member>/choose/", members.choose, name="choose_organisation"),
    path(
        "account/invitations/<uuid:invitation>/withdraw/", members.revoke_invitation, name="revoke_invitation"
    ),
    path("account/invitation/", members.invitation, name="invitation"),
    *registration,
]
