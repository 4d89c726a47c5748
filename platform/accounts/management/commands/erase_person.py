"""`manage.py erase_person ID`: for staff, under the console's role, at a person's own request or by order."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db.models import Q

from accounts import services
from accounts.models import User
from audit.events import Actor

BY = Actor(kind="system", id="erase_person", channel="command")


class Command(BaseCommand):
    """Takes the account's id or its pseudonym, never a name or address: those would stay in the shell's history."""

    help = "Erase a person for ever: name, addresses, sign-ins and tokens. The audit log stays as it is."

    def add_arguments(self, parser: CommandParser) -> None:
        chosen = parser.add_mutually_exclusive_group(required=True)
        chosen.add_argument("id", type=UUID, nargs="?", help="the account's id or pseudonym")
        chosen.add_argument("--asked", action="store_true", help="everybody who asked for it on their page")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["asked"]:
            for asking in User.objects.filter(erasure_request__isnull=False, erased_at=None):
                self._erase(asking)
            return
        user = User.objects.filter(Q(pk=options["id"]) | Q(pseudonym=options["id"])).first()
        if user is None:
            raise CommandError(f"there is no account {options['id']}")
        if user.erased_at is not None:
            self.stdout.write(f"{user.pseudonym} was erased at {user.erased_at:%Y-%m-%d %H:%M} UTC already")
            return
        self._erase(user)

    def _erase(self, user: User) -> None:
        services.erase_person(user, by=BY)
        self.stdout.write(
            f"{user.pseudonym} is erased; copies of the database from before still hold the person"
        )
