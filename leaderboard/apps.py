from django.apps import AppConfig


class LeaderboardConfig(AppConfig):
    """Result pages, public pages and the components that every page is built of."""

    name = "leaderboard"
    default_auto_field = "django.db.models.BigAutoField"
