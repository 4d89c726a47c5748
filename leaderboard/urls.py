"""Public pages."""

from django.urls import path

from leaderboard import views

app_name = "leaderboard"
urlpatterns = [
    path("", views.overview, name="overview"),
    path("rules/", views.rules, name="rules"),
    path("public-tasks/", views.public_task_list, name="public_tasks"),
    path("public-tasks/<str:version>/<slug:slug>/", views.public_task_page, name="public_task"),
    path("problems/", views.problem_list, name="problems"),
    path("problems/<slug:code>/", views.problem_page, name="problem"),
    path("time-zone/", views.time_zone, name="time_zone"),
]
