"""`manage.py regrade_commit SUBMISSION --digest SHA256 --by EMAIL`: fix a seed before the release (role console)."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts.auditors import term_of
from accounts.models import User
from audit.events import Actor
from governance import regrading
from governance.regrading import RegradingRefused
from submissions.models import Submission


class Command(BaseCommand):
    """Records the digest in the auditor's name; the seed itself stays with the auditor until `regrade`."""

    help = "Record an auditor's commitment to the seed of a later draw."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("submission", type=UUID)
        parser.add_argument("--digest", required=True, metavar="SHA256", help="SHA-256 of the seed, in hex")
        parser.add_argument("--by", required=True, metavar="EMAIL", help="the auditor")

    def handle(self, *args: Any, **options: Any) -> None:
        submission = Submission.objects.filter(pk=options["submission"]).first()
        if submission is None:
            raise CommandError(f"there is no submission {options['submission']}")
        try:
            regrading.commit_seed(submission, options["digest"], by=self._auditor(options["by"]))
        except RegradingRefused as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{submission.id}: the seed with SHA-256 {options['digest']} is fixed")

    def _auditor(self, email: str) -> Actor:
        person = User.objects.filter(email__iexact=email).first()
        term = term_of(person) if person else None
        if person is None or term is None:
            raise CommandError(f"{email} is no auditor at present")
        return person.actor("command", str(term.organisation_id))
