from django.apps import AppConfig


class AppealsConfig(AppConfig):
    name = "governance.appeals"
    default_auto_field = "django.db.models.BigAutoField"
