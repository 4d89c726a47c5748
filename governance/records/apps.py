from django.apps import AppConfig


class RecordsConfig(AppConfig):
    name = "governance.records"
    default_auto_field = "django.db.models.BigAutoField"
