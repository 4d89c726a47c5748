from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "accounts"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Make every kind of event known, also where nothing else needs its module."""
        from accounts.linking import events as linking  # noqa: F401
        from accounts.publishing import events as publishing  # noqa: F401
        from accounts.registration import events as registration  # noqa: F401
