from django.apps import AppConfig


class WatchConfig(AppConfig):
    name = "governance.watch"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Make every kind of event known, also where nothing else needs its module."""
        from governance.watch import events  # noqa: F401
