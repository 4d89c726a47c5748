"""The translation gate: every message stands in both catalogues, the Chinese one complete."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from config import catalogues


class Command(BaseCommand):
    """Fails with one line for each message that is missing, fuzzy, unsaid or has other placeholders."""

    help = "Check the translation catalogues; --write first brings them to what the sources say."
    requires_system_checks = []  # noqa: RUF012 - Django's own spelling

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--write", action="store_true", help="add new messages, drop those nobody says")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["write"]:
            catalogues.update()
            catalogues.compile_all()
        found = catalogues.problems()
        for line in found:
            self.stderr.write(line)
        if found:
            raise CommandError(f"{len(found)} translation problem(s)")
