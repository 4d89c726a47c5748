"""`manage.py regrade SUBMISSION --seed SEED --count N`: grade again what the seed draws, under the role `sealed`."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any
from uuid import UUID

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from audit.events import Actor
from config.ids import opaque_id
from evaluation.executing import OUR_FAULTS
from evaluation.grading import Grader
from evaluation.sandbox import backends, selftest
from governance import regrading
from governance.regrading import Compared, RegradingRefused
from submissions.models import Submission

BY = Actor(kind="system", id="regrade", channel="command")


class Command(BaseCommand):
    """Prints `equal`, or the first difference and fails."""

    help = "Draw runs by a seed that was committed before the release, and grade their artefacts again."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("submission", type=UUID)
        parser.add_argument("--seed", required=True, help="the seed, revealed now")
        parser.add_argument("--count", type=int, required=True, metavar="N")

    def handle(self, *args: Any, **options: Any) -> None:
        submission = Submission.objects.filter(pk=options["submission"]).first()
        if submission is None:
            raise CommandError(f"there is no submission {options['submission']}")
        # Its name can be seen in the mount table of a sandbox, so it says nothing.
        place = Path(settings.WORK_DIR) / opaque_id().hex
        place.mkdir(parents=True, mode=0o711)
        try:
            compared = self._regrade(submission, options["seed"], options["count"], place)
        except (RegradingRefused, ValueError) as error:
            raise CommandError(str(error)) from error
        except OUR_FAULTS as fault:
            raise CommandError(f"not graded, and nothing recorded: {type(fault).__name__}") from fault
        finally:
            shutil.rmtree(place, ignore_errors=True)
        different = [found for found in compared if not found.equal]
        if different:
            raise CommandError(f"{len(different)} of {len(compared)} differ, first {_sentence(different[0])}")
        self.stdout.write(f"equal: {len(compared)} runs graded again")

    def _regrade(self, submission: Submission, seed: str, count: int, place: Path) -> list[Compared]:
        sandbox = backends.default_backend()
        if not selftest.run(sandbox.copies).fit:
            raise CommandError("this machine does not isolate what is graded; see the self-test")
        grader = sandbox.copies.digest
        again = Grader("regrade", place, sandbox, grader).again
        return regrading.regrade(submission, seed=seed, count=count, grade=again, grader=grader, by=BY)


def _sentence(found: Compared) -> str:
    return f"episode {found.episode}, task {found.task}: committed {found.committed}, now {found.found}"
