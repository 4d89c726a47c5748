"""Staff pages of rotation. Mounted in the console's own process only; see the project's URL table."""

from django.urls import path

from governance.rotation import views

app_name = "rotating"
urlpatterns = [
    path("console/rotation/", views.queue, name="queue"),
    path("console/rotation/stock/", views.stock, name="stock"),
    path("console/rotation/plans/<uuid:which>/", views.plan, name="plan"),
    path("console/rotation/plans/<uuid:which>/<slug:act>/", views.plan_act, name="plan_act"),
    path("console/rotation/<uuid:which>/", views.entry, name="entry"),
    path("console/rotation/<uuid:which>/task/", views.reveal, name="reveal"),
    path("console/rotation/<uuid:which>/<slug:act>/", views.act, name="act"),
]
