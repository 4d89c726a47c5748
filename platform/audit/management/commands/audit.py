"""`manage.py audit witness-add|verify …`: the log's own affairs, by command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from audit import live, services
from audit.events import Actor
from audit.keys import LAST

BY = Actor(kind="system", id="audit", channel="command")


class Command(BaseCommand):
    """Each action says what it did in one line."""

    help = "Register witnesses of the transparency log; check the log in the live database."

    def add_arguments(self, parser: CommandParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        witness = actions.add_parser("witness-add", help="accept a witness's cosignatures (role console)")
        witness.add_argument("name", help="how people know the witness")
        witness.add_argument("vkey", help="its verifier key, as `lgbench-audit witness` prints it")
        verify = actions.add_parser("verify", help="check log and rows in the live database (role auditor)")
        verify.add_argument("--since", type=Path, metavar="FILE", help="a signed checkpoint kept elsewhere")
        verify.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            getattr(self, f"do_{options['action'].replace('-', '_')}")(options)
        except ValueError as error:
            raise CommandError(str(error)) from error

    def do_witness_add(self, options: dict[str, Any]) -> None:
        witness = services.register_witness(options["name"], options["vkey"], by=BY)
        self.stdout.write(f"{witness.name}: cosignatures by {witness.vkey} are accepted from now on")

    def do_verify(self, options: dict[str, Any]) -> None:
        """Exit code 1 where anything is wrong; the first line names the first bad place."""
        report = live.check(_remembered(options["since"]))
        if options["json"]:
            self.stdout.write(json.dumps(report.as_dict()))
        else:
            for finding in report.findings:
                self.stdout.write(finding.line())
            if report.more:
                self.stdout.write(f"and {report.more} more")
        if not report.ok:
            raise CommandError(f"{len(report.findings) + report.more} found wrong", returncode=1)
        if not options["json"]:
            self.stdout.write(
                f"{report.events} events, {report.entries} entries, {report.checkpoints} checkpoints: all is well"
            )


def _remembered(given: Path | None) -> str | None:
    """The signed note to hold the log against: the given one, or the sequencer's where it can be read here."""
    if given is not None:
        try:
            return given.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise CommandError(f"--since: {given} cannot be read: {error}", returncode=2) from error
    try:
        return (settings.SEQUENCER_DIR / LAST).read_text(encoding="utf-8")
    except OSError:
        return None
