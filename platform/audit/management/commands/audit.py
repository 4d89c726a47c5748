"""`manage.py audit witness-add NAME VKEY`: the log's own affairs, by command."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from audit import services
from audit.events import Actor

BY = Actor(kind="system", id="audit", channel="command")


class Command(BaseCommand):
    """Each action says what it did in one line."""

    help = "Register witnesses of the transparency log."

    def add_arguments(self, parser: CommandParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        witness = actions.add_parser("witness-add", help="accept a witness's cosignatures (role console)")
        witness.add_argument("name", help="how people know the witness")
        witness.add_argument("vkey", help="its verifier key, as `lgbench-audit witness` prints it")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            getattr(self, f"do_{options['action'].replace('-', '_')}")(options)
        except ValueError as error:
            raise CommandError(str(error)) from error

    def do_witness_add(self, options: dict[str, Any]) -> None:
        witness = services.register_witness(options["name"], options["vkey"], by=BY)
        self.stdout.write(f"{witness.name}: cosignatures by {witness.vkey} are accepted from now on")
