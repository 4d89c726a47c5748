"""A vendor's page of a question in a case."""

from django.urls import path

from governance.desk import views

app_name = "desk"
urlpatterns = [path("v/questions/<uuid:question>/", views.question, name="question")]
