"""Pages of registration; included by the URL table of accounts."""

from django.urls import path

from accounts.registration import views

urlpatterns = [
    path("participation-rules/", views.participation_rules, name="participation_rules"),
    path("account/registration/", views.registration, name="registration"),
    path("account/registration/new/", views.new_registration, name="new_registration"),
    path("account/registration/mail/", views.mail_link, name="registration_mail"),
    path("account/registration/dns/", views.look_up_record, name="registration_dns"),
    path("registration/domain/<str:token>/", views.confirm_domain, name="registration_domain"),
]
