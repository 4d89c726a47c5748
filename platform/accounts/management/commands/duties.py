"""`manage.py duties ceremony FIRST SECOND --until DATE` and `duties check [--json]`, under the console's role."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, datetime, time
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db.models import Q
from django.utils.dateparse import parse_date

from accounts.duties import queries, services
from accounts.duties.refusals import DutyRefused
from accounts.duties.smallest import smallest_staff
from accounts.duties.table import Duty
from accounts.models import User
from audit.events import Actor

BY = Actor(kind="system", id="duties_ceremony", channel="command")


class Command(BaseCommand):
    """The ceremony is a command and no page: whoever holds it has the host. People stand by pseudonym in all output."""

    help = "Name the first two administrators, once; say who could take each decision today."

    def add_arguments(self, parser: CommandParser) -> None:
        acts = parser.add_subparsers(dest="act", required=True)
        ceremony = acts.add_parser("ceremony", help="name the first two administrators; done once, for ever")
        ceremony.add_argument("first", type=UUID, help="account or pseudonym of one member of the staff")
        ceremony.add_argument("second", type=UUID, help="and of another")
        ceremony.add_argument(
            "--until", required=True, metavar="YYYY-MM-DD", help="at most 366 days from now"
        )
        check = acts.add_parser("check", help="who could take each decision, and the smallest staff")
        check.add_argument("--json", action="store_true", help="as one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["act"] == "ceremony":
            self._ceremony(options["first"], options["second"], options["until"])
        elif options["json"]:
            self.stdout.write(json.dumps(_facts()))
        else:
            self._say(_facts())

    def _ceremony(self, first: UUID, second: UUID, until: str) -> None:
        people = _person(first), _person(second)
        try:
            services.hold_ceremony(*people, until=_midnight(until), by=BY)
        except DutyRefused as error:
            raise CommandError(str(error)) from error
        named = " and ".join(str(person.pseudonym) for person in people)
        self.stdout.write(f"{named} are the first administrators, until {until}")
        self.stdout.write("They give every other duty in the console, two of them for each.")

    def _say(self, facts: dict[str, Any]) -> None:
        if not facts["begun"]:
            self.stdout.write("No duty was given yet: manage.py duties ceremony names the first two people.")
        elif facts["two_administrators_until"] is None:
            self.stdout.write("WARNING there are no two administrators: nobody can give a duty.")
        else:
            self.stdout.write(f"Two administrators until {facts['two_administrators_until']}.")
        for row in facts["decisions"]:
            mark = "ok     " if row["possible"] else "NOBODY "
            self.stdout.write(f"{mark}{row['decision']}: {row['name']}")
            for side in ("proposers", "approvers"):
                self.stdout.write(f"         {side}: {', '.join(row[side]) or '–'}")
        self.stdout.write(f"Held today by {len(facts['staff'])} people:")
        for pseudonym, duties in facts["staff"].items():
            self.stdout.write(f"  {pseudonym}: {', '.join(duties)}")
        smallest = facts["smallest_staff"]
        self.stdout.write(f"The smallest staff that satisfies every rule has {len(smallest)} people:")
        for duties in smallest:
            self.stdout.write(f"  {', '.join(duties)}")


def _facts() -> dict[str, Any]:
    until = queries.two_administrators_until()
    return {
        "begun": queries.has_begun(),
        "two_administrators_until": until.isoformat() if until else None,
        "decisions": [
            {
                "decision": taken.decision.value,
                "name": taken.name,
                "proposers": [str(person.pseudonym) for person in taken.proposers],
                "approvers": [str(person.pseudonym) for person in taken.approvers],
                "possible": taken.possible,
            }
            for taken in queries.decisions_now()
        ],
        "staff": {str(person.pseudonym): _values(duties) for person, duties in queries.staff_now()},
        "smallest_staff": [_values(duties) for duties in smallest_staff()],
    }


def _values(duties: Iterable[Duty]) -> list[str]:
    return sorted(duty.value for duty in duties)


def _person(identifier: UUID) -> User:
    found = User.objects.filter(Q(pk=identifier) | Q(pseudonym=identifier)).first()
    if found is None:
        raise CommandError(f"there is no account {identifier}")
    return found


def _midnight(text: str) -> datetime:
    """The beginning of that day in UTC."""
    try:
        found = parse_date(text)
    except ValueError as error:
        raise CommandError(f"{text!r}: {error}") from error
    if found is None:
        raise CommandError(f"{text!r} is no date like 2026-11-30")
    return datetime.combine(found, time(), UTC)
