"""Small readers of environment variables."""

from datetime import date

import environ
from django.core.exceptions import ImproperlyConfigured

ENV = environ.Env()


def words(name: str) -> list[str]:
    """The comma-separated words of a variable, without blanks."""
    return [word.strip() for word in str(ENV.str(name, default="")).split(",") if word.strip()]


def required(name: str) -> str:
    """A variable that must be set; raises ImproperlyConfigured otherwise."""
    return str(ENV.str(name))


def dated(name: str) -> dict[str, date]:
    """`word=2027-06-30,…` as words in lower case with their days; raises ImproperlyConfigured."""
    found = {}
    for word in words(name):
        key, _, day = word.partition("=")
        try:
            found[key.lower()] = date.fromisoformat(day)
        except ValueError as error:
            raise ImproperlyConfigured(f"{name}: {word} is not NAME=YYYY-MM-DD") from error
    return found
