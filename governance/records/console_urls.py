"""Staff pages of the problem queue. Mounted in the console's own process only; see the project's URL table."""

from django.urls import path

from governance.records.problems import views

app_name = "problem_queue"
urlpatterns = [
    path("console/problems/", views.problems, name="queue"),
    path("console/problems/new/", views.new, name="queue_new"),
    path("console/problems/<uuid:which>/", views.problem, name="queue_entry"),
]
