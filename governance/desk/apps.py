from django.apps import AppConfig


class DeskConfig(AppConfig):
    name = "governance.desk"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Make every kind of event known, also where nothing else needs its module."""
        from governance.desk import events  # noqa: F401
