"""Staff pages of appeals. Mounted in the console's own process only; see the project's URL table."""

from django.urls import path

from governance.appeals import console, judging

app_name = "judging"
urlpatterns = [
    path("console/appeals/", console.appeals, name="appeals"),
    path("console/appeals/<uuid:appeal>/", console.appeal, name="appeal"),
    path("console/appeals/<uuid:appeal>/<slug:act>/", console.act, name="appeal_act"),
    path("console/rechecks/", judging.rechecks, name="rechecks"),
    path("console/rechecks/<uuid:sheet>/", judging.recheck, name="recheck"),
    path("console/opinions/", console.opinions, name="opinions"),
    path("console/opinions/<uuid:appeal>/", console.opinion, name="opinion"),
]
