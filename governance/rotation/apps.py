from django.apps import AppConfig


class RotationConfig(AppConfig):
    name = "governance.rotation"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Make every kind of event known, also where nothing else needs its module."""
        from governance.rotation import events  # noqa: F401
