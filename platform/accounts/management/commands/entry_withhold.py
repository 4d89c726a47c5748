"""`manage.py entry_withhold POSITION REASON ID ID`: by two people whose duties allow it, role console."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db.models import Q

from accounts.duties.queries import require
from accounts.duties.refusals import DutyRefused
from accounts.duties.table import Decision
from accounts.models import User
from audit import withholding
from audit.events import Actor
from audit.models import Withholding


class Command(BaseCommand):
    """The entry stays in the log; auditors' pages and exports show its leaf hash from now on."""

    help = "Withhold one entry of the log from pages and exports."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("position", type=int)
        parser.add_argument("reason", choices=Withholding.Reason.values)
        parser.add_argument("asked", type=UUID, help="account or pseudonym of who asks for it")
        parser.add_argument("agreed", type=UUID, help="account or pseudonym of who agrees, somebody else")

    def handle(self, *args: Any, **options: Any) -> None:
        asked, agreed = (self._staff(options[name]) for name in ("asked", "agreed"))
        try:
            require(Decision.WITHHOLDING, proposed=asked, approved=agreed)
            withholding.withhold(options["position"], options["reason"], asked=asked, agreed=agreed)
        except (DutyRefused, withholding.WithholdingRefused) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"entry {options['position']} is withheld")

    def _staff(self, identifier: UUID) -> Actor:
        found = User.objects.filter(
            Q(pk=identifier) | Q(pseudonym=identifier), is_staff=True, is_active=True
        ).first()
        if found is None:
            raise CommandError(f"{identifier} is no active member of the staff")
        return found.actor("command")
