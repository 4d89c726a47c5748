"""Staff pages of cases and holds. Mounted in the console's own process only; see the project's URL table."""

from django.urls import path

from governance.desk import console, holding

app_name = "signals"
urlpatterns = [
    path("console/signals/", console.signals, name="signals"),
    path("console/signals/<uuid:which>/", console.case, name="case"),
    path("console/signals/<uuid:which>/<slug:act>/", console.act, name="case_act"),
    path("console/holds/<uuid:submission>/", holding.hold, name="hold"),
    path("console/holds/<uuid:submission>/<slug:act>/", holding.act, name="hold_act"),
    path("console/hold-decisions/<uuid:which>/<slug:act>/", holding.decide, name="hold_decide"),
]
