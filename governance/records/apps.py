from django.apps import AppConfig


class RecordsConfig(AppConfig):
    name = "governance.records"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Make every kind of event known, also where nothing else needs its module."""
        from governance.records import events  # noqa: F401
        from governance.records.problems import events as problems  # noqa: F401
