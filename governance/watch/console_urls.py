"""Staff pages of detection. Mounted in the console's own process only; see the project's URL table."""

from django.urls import path

from governance.watch import views

app_name = "watching"
urlpatterns = [path("console/gaps/", views.gaps, name="gaps")]
