from django.apps import AppConfig


class AppealsConfig(AppConfig):
    name = "governance.appeals"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Make every kind of event known, also where nothing else needs its module."""
        from governance.appeals import events  # noqa: F401
