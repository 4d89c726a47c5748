"""Auditors' pages. Mounted in the console's own process only; see the project's URL table."""

from django.urls import path

from leaderboard.auditing import reports, rooms, views

app_name = "auditing"
urlpatterns = [
    path("audit/", views.explorer, name="explorer"),
    path("audit/events/<int:identifier>/", views.event, name="event"),
    path("audit/events/<int:identifier>/proof", views.proof, name="proof"),
    path("audit/positions/<int:place>/", views.position, name="position"),
    path("audit/checkpoints/", views.checkpoints, name="checkpoints"),
    path("audit/statistics/", reports.statistics, name="statistics"),
    path("audit/integrity/", reports.integrity, name="integrity"),
    path("audit/exports/", reports.exports, name="exports"),
    path("audit/rooms/", rooms.rooms, name="rooms"),
    path("audit/rooms/<uuid:room>/", rooms.room, name="room"),
    path("audit/exports/<uuid:export>/", reports.download, name="export"),
]
