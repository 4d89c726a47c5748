"""`manage.py release_dated LABEL`: let a dated release take place now, as the demo policy has it."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from audit.events import Actor
from governance.confirmation import dating

BY = Actor(kind="system", id="calendar", channel="command")


class Command(BaseCommand):
    """Prints the label and the SHA-256 of the document. Official results come at planned dates, by themselves."""

    help = "Freeze everything confirmed so far in a dated release."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("label", help="such as demo-1: small letters, digits, hyphens")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            row = dating.date_on_command(options["label"], by=BY)
        except dating.NotDue as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{row.label} {row.sha256}")
