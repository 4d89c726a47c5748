"""`manage.py audit witness-add|verify|export …`: the log's own affairs, by command."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from audit import exports, live, services
from audit.events import Actor
from audit.keys import LAST

BY = Actor(kind="system", id="audit", channel="command")


class Command(BaseCommand):
    """Each action says what it did in one line."""

    help = "Register witnesses of the transparency log; check the log in the live database; export it."

    def add_arguments(self, parser: CommandParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        witness = actions.add_parser("witness-add", help="accept a witness's cosignatures (role console)")
        witness.add_argument("name", help="how people know the witness")
        witness.add_argument("vkey", help="its verifier key, as `lgbench-audit witness` prints it")
        verify = actions.add_parser("verify", help="check log and rows in the live database (role auditor)")
        verify.add_argument("--since", type=Path, metavar="FILE", help="a signed checkpoint kept elsewhere")
        verify.add_argument("--json", action="store_true", help="print one JSON object")
        export = actions.add_parser("export", help="write an export for lgbench-audit (role auditor)")
        export.add_argument("directory", type=Path, help="a new or empty directory")
        export.add_argument(
            "--from", dest="since", type=_instant, metavar="TIME", help="disclose from, included"
        )
        export.add_argument("--until", type=_instant, metavar="TIME", help="disclose until, not included")
        export.add_argument("--first", type=int, metavar="N", help="disclose from this position on")
        export.add_argument("--last", type=int, metavar="N", help="disclose up to this position")
        export.add_argument("--organisation", default="", metavar="ID", help="disclose what it did only")
        export.add_argument("--kind", default="", help="disclose one kind only, or a group as `submission.`")

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

    def do_export(self, options: dict[str, Any]) -> None:
        """On the spot and into a folder of one's own; nothing is recorded: whoever runs it has the database."""
        directory: Path = options["directory"]
        if directory.exists() and any(directory.iterdir()):
            raise CommandError(f"{directory} is not empty", returncode=2)
        names = ("first", "last", "since", "until", "organisation", "kind")
        try:
            manifest = exports.write(directory, exports.Selection(**{name: options[name] for name in names}))
        except exports.NothingSigned as error:
            raise CommandError("no checkpoint is signed yet", returncode=1) from error
        except exports.LogBroken as error:
            raise CommandError(str(error), returncode=1) from error
        shown = manifest.size - manifest.withheld
        self.stdout.write(f"{manifest.size} entries, {shown} of them disclosed, in {directory}")


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


def _instant(text: str) -> datetime:
    """An instant as ISO 8601; UTC where it has no offset. Raises ValueError."""
    found = datetime.fromisoformat(text)
    return found if found.tzinfo else found.replace(tzinfo=UTC)
