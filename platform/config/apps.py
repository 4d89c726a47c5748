"""The project's own app: it holds commands and no models."""

from django.apps import AppConfig


class ConfigConfig(AppConfig):
    """Registers `services`, the translation gate and the other commands of the skeleton."""

    name = "config"
    label = "config"
