"""`manage.py outside_arbiter EMAIL …`: for staff, under the console's role."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts.models import User
from governance.appeals import services


class Command(BaseCommand):
    """Two administrators answer for it that the arbiter is none of the operator's people."""

    help = "Name an arbiter from outside the operator, or end that with --end."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("email", help="of somebody who holds the duty of an arbiter")
        parser.add_argument("--declaration", metavar="SHA256", help="of the signed declaration of interests")
        parser.add_argument("--by", action="append", default=[], metavar="EMAIL", help="two administrators")
        parser.add_argument("--end", action="store_true", help="they are none from now on; one administrator")

    def handle(self, *args: Any, **options: Any) -> None:
        person = _person(options["email"])
        people = [_person(email).actor("command") for email in options["by"]]
        if len(people) != (1 if options["end"] else 2):
            raise CommandError("two administrators name them (--by twice), one ends it")
        try:
            if options["end"]:
                services.end_outside(person, by=people[0])
            else:
                services.name_outside(
                    person,
                    declaration=options["declaration"] or "",
                    proposed=people[0],
                    confirmed=people[1],
                )
        except ValueError as error:  # refusals are
            raise CommandError(str(error)) from error
        self.stdout.write("ended" if options["end"] else "named")


def _person(email: str) -> User:
    found = User.objects.filter(email=email).first()
    if found is None:
        raise CommandError(f"there is no account with the address {email}")
    return found
