from django.apps import AppConfig


class GovernanceConfig(AppConfig):
    name = "governance"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Make every kind of event known, also where nothing else needs its module."""
        from governance import events, sealed_events  # noqa: F401
        from governance.confirmation import events as confirmation  # noqa: F401
        from governance.correcting import events as correcting  # noqa: F401
