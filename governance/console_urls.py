"""Staff pages of governance. Mounted in the console's own process only; see the project's URL table."""

from django.urls import path

from governance import views

app_name = "governing"
urlpatterns = [path("console/information/", views.accounts, name="accounts")]
