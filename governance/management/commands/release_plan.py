"""`manage.py release_plan LABEL --at INSTANT [--kind errata]`, or `--year YEAR`: announce dates in the calendar."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from audit.events import Actor
from governance.confirmation import dating
from governance.confirmation.models import ReleaseDate

BY = Actor(kind="system", id="calendar", channel="command")


class Command(BaseCommand):
    """Prints each date; what was announced before stays as it is."""

    help = "Announce one date of the public calendar, or the official dates of a year."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("label", nargs="?", help="such as 2027-q1")
        parser.add_argument("--at", type=_instant, help="ISO 8601; UTC where it says no zone")
        parser.add_argument("--kind", choices=ReleaseDate.Kind.values, default=ReleaseDate.Kind.RESULTS.value)
        parser.add_argument("--year", type=int, help="quarterly results and monthly errata of this year")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["year"]:
            rows = dating.plan_year(options["year"], by=BY)
        elif options["label"] and options["at"]:
            rows = [dating.plan(options["label"], kind=options["kind"], planned_for=options["at"], by=BY)]
        else:
            raise CommandError("name a label with --at, or a --year")
        for row in rows:
            self.stdout.write(f"{row.label} {row.kind} {row.planned_for.isoformat()}")


def _instant(text: str) -> datetime:
    found = datetime.fromisoformat(text)
    return found if found.tzinfo else found.replace(tzinfo=UTC)
