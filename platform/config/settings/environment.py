"""Small readers of environment variables."""

import environ

ENV = environ.Env()


def words(name: str) -> list[str]:
    """The comma-separated words of a variable, without blanks."""
    return [word.strip() for word in str(ENV.str(name, default="")).split(",") if word.strip()]


def required(name: str) -> str:
    """A variable that must be set; raises ImproperlyConfigured otherwise."""
    return str(ENV.str(name))
