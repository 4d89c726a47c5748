from django.apps import AppConfig


class RotationConfig(AppConfig):
    name = "governance.rotation"
    default_auto_field = "django.db.models.BigAutoField"
