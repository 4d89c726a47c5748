from django.apps import AppConfig


class AuditConfig(AppConfig):
    name = "audit"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Make every kind of event known, also where nothing else needs its module."""
        from audit import log_events, read_events  # noqa: F401
