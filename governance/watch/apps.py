from django.apps import AppConfig


class WatchConfig(AppConfig):
    name = "governance.watch"
    default_auto_field = "django.db.models.BigAutoField"
