"""Public pages, and the vendor pages that show results."""

from django.urls import path

from leaderboard.views import log, public, releases, vendor

app_name = "leaderboard"
urlpatterns = [
    path("", public.overview, name="overview"),
    path("rules/", public.rules, name="rules"),
    path("contract/", public.contract, name="contract"),
    path("public-tasks/", public.public_task_list, name="public_tasks"),
    path("public-tasks/<str:version>/<slug:slug>/", public.public_task_page, name="public_task"),
    path("problems/", public.problem_list, name="problems"),
    path("problems/<slug:code>/", public.problem_page, name="problem"),
    path("time-zone/", public.time_zone, name="time_zone"),
    path("releases/", releases.releases, name="releases"),
    path("releases/<slug:label>/", releases.dated_release, name="dated_release"),
    path("releases/<slug:label>/results.json", releases.dated_release_file, name="dated_release_file"),
    path("log/", log.checkpoints, name="log"),
    path("log/verify/", log.verify, name="log_verify"),
    path("log/verify.html", log.verify_file, name="log_verify_file"),
    path("v/", vendor.home, name="home"),
    path("v/submissions/<uuid:submission>/result/", vendor.result, name="result"),
]
