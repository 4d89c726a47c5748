from django.urls import path

from evaluation.api import HealthView

urlpatterns = [path("health", HealthView.as_view(), name="api-health")]
