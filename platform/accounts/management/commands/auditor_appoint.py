"""`manage.py auditor_appoint ID ORGANISATION …`: for staff, under the console's role."""

from __future__ import annotations

from datetime import UTC, datetime, time
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db.models import Q
from django.utils.dateparse import parse_date

from accounts import auditors
from accounts.duties.queries import appointing
from accounts.models import Organisation, User
from audit.events import Actor

BY = Actor(kind="system", id="auditor_appoint", channel="command")


class Command(BaseCommand):
    """The organisation is marked as an audit organisation with its first auditor."""

    help = "Appoint an auditor: a person of an audit organisation, for a term, within a scope."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("id", type=UUID, help="the account's id or pseudonym")
        parser.add_argument("organisation", type=UUID, help="the audit organisation's id")
        parser.add_argument("--from", dest="begins", required=True, metavar="YYYY-MM-DD")
        parser.add_argument("--until", dest="ends", required=True, metavar="YYYY-MM-DD")
        parser.add_argument("--scope", required=True, help="what the audit is about")
        parser.add_argument(
            "--declaration", required=True, metavar="SHA256", help="of the signed declaration"
        )
        parser.add_argument(
            "--by",
            action="append",
            default=[],
            metavar="EMAIL",
            help="twice, once duties have begun: two administrators",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        person = User.objects.filter(Q(pk=options["id"]) | Q(pseudonym=options["id"])).first()
        organisation = Organisation.objects.filter(pk=options["organisation"]).first()
        if person is None or organisation is None:
            raise CommandError("there is no such account, or no such organisation")
        try:
            people = appointing([self._person(email) for email in options["by"]], organisation)
            term = auditors.appoint(
                person,
                auditors.mark_audit_organisation(organisation, by=BY),
                begins_at=_midnight(options["begins"]),
                ends_at=_midnight(options["ends"]),
                scope=options["scope"],
                declaration=options["declaration"],
                by=BY,
                people=people,
            )
        except ValueError as error:  # refusals are
            raise CommandError(str(error)) from error
        self.stdout.write(f"{person.pseudonym} is an auditor until {term.ends_at:%Y-%m-%d %H:%M} UTC")

    def _person(self, email: str) -> User:
        person = User.objects.filter(email__iexact=email).first()
        if person is None:
            raise CommandError(f"nobody signs in as {email}")
        return person


def _midnight(text: str) -> datetime:
    """The beginning of that day in UTC. Raises ValueError."""
    found = parse_date(text)
    if found is None:
        raise ValueError(f"{text!r} is no date like 2026-11-30")
    return datetime.combine(found, time(), UTC)
