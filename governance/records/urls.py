"""Public pages of the records."""

from django.urls import path

from governance.records import views

app_name = "records"
urlpatterns = [
    path("versions/", views.versions, name="dossiers"),
    path("versions/<str:label>/", views.version, name="dossier"),
    path("change-log/", views.change_log, name="change_log"),
    path("change-log/lines.json", views.change_log_file, name="change_log_file"),
    path("retirement-list/", views.retirement_list, name="retirement_list"),
    path("retirement-list/tasks.json", views.retirement_list_file, name="retirement_list_file"),
    path("errata/<slug:label>/", views.errata, name="errata"),
    path("errata/<slug:label>/errata.json", views.errata_file, name="errata_file"),
]
