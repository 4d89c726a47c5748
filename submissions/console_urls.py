"""Staff pages. Mounted in the console's own process only; see the project's URL table."""

from django.urls import path
from django.views.generic import RedirectView

from submissions.views import console

app_name = "console"
urlpatterns = [
    path("console/", RedirectView.as_view(pattern_name="console:submissions"), name="inbox"),
    path("console/submissions/", console.running, name="submissions"),
    path("console/organisations/", console.organisations, name="organisations"),
    path("console/organisations/<uuid:organisation>/verify/", console.verify, name="verify"),
    path("console/workers/", console.workers, name="workers"),
]
