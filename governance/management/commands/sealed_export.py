"""`manage.py sealed_export SUBMISSION DIR --reason TEXT --by EMAIL --by EMAIL`, under the role `sealed`."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts.models import User
from governance import sealed_export
from governance.sealed_export import ExportRefused
from submissions.models import Submission


class Command(BaseCommand):
    """Writes one file that `lgbench-audit recompute` reads; the event about it comes first."""

    help = "Hand out what an auditor needs to compute one release again (two people, a reason)."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("submission", type=UUID)
        parser.add_argument("directory", type=Path, metavar="DIR", help="an empty or new directory")
        parser.add_argument("--reason", required=True, help="only its salted hash goes into the log")
        parser.add_argument("--by", action="append", required=True, metavar="EMAIL", help="give it twice")

    def handle(self, *args: Any, **options: Any) -> None:
        folder: Path = options["directory"]
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise CommandError(f"{folder} is not an empty directory")
        submission = Submission.objects.filter(pk=options["submission"]).select_related("task_set").first()
        if submission is None:
            raise CommandError(f"there is no submission {options['submission']}")
        people = [self._person(email) for email in options["by"]]
        try:
            export = sealed_export.make(submission, reason=options["reason"], by=people)
            path = sealed_export.write(export, folder)
        except (ExportRefused, OSError) as error:
            raise CommandError(str(error)) from error
        if not export.holds:
            self.stderr.write("the runs no longer lead to the root that was released")
        self.stdout.write(
            f"{path}: {export.runs} runs; check it with lgbench-audit recompute {folder} --key KEY"
        )

    def _person(self, email: str) -> User:
        person = User.objects.filter(email__iexact=email).first()
        if person is None:
            raise CommandError(f"nobody signs in as {email}")
        return person
