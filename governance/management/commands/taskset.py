"""`manage.py taskset generate|import|freeze|verify|open|status`: the life of a task-set version, by command."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts.models import User
from audit.events import Actor
from benchmark import queries, services
from benchmark.models import TaskRevision, TaskSetVersion
from benchmark.services import TaskSetRefused
from benchmark.synthetic import generate
from benchmark.synthetic.bank import FIRST_SPARE
from benchmark.taskdir import TaskDirError
from config import store
from evaluation.grader.admission import admit_many
from governance.models import ReleasePolicy
from governance.services import OFFICIAL_TICK_SECONDS, set_release_policy
from submissions.services import open_task_set, policy_people
from submissions.services.policy import PROFILES

DEMO_TICK_SECONDS = 5
BY = Actor(kind="system", id="taskset", channel="command")


class Command(BaseCommand):
    """Each action says what it did in one line; `verify` lists what is wrong and fails."""

    help = "Generate, import, freeze, verify and open task-set versions."

    def add_arguments(self, parser: CommandParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        generate_ = actions.add_parser("generate", help="write a synthetic task bank")
        generate_.add_argument("--version", dest="label", required=True)
        generate_.add_argument("--seed", type=int, required=True)
        generate_.add_argument("--out", type=Path, required=True)
        generate_.add_argument("--size", choices=["full", "mini"], default="full")
        generate_.add_argument("--split", choices=["bank", "dev", "reserve"], default="bank")
        generate_.add_argument("--reserve", type=int, default=0)
        generate_.add_argument(
            "--first", type=int, default=FIRST_SPARE, help="first number of a reserve made apart"
        )
        generate_.add_argument(
            "--canary", help="plant unique strings with this prefix in held-out tasks (tests)"
        )
        import_ = actions.add_parser("import", help="admit a task-set directory and store it as a draft")
        import_.add_argument("directory", type=Path)
        for name, text in [
            ("freeze", "freeze for ever"),
            ("verify", "recompute every digest"),
            ("status", "as JSON"),
        ]:
            actions.add_parser(name, help=text).add_argument("label")
        open_ = actions.add_parser("open", help="let vendors submit on a frozen version")
        open_.add_argument("label")
        open_.add_argument("--profile", choices=["official", "demo"], default="official")
        open_.add_argument("--rule", choices=ReleasePolicy.Rule.values, default=ReleasePolicy.Rule.GRID)
        open_.add_argument(
            "--budget",
            type=int,
            metavar="BITS",
            help="what one lineage may be told over the version's life (default: a bit for each live task)",
        )
        open_.add_argument(
            "--by",
            action="append",
            default=[],
            metavar="EMAIL",
            help="twice: who proposes the official policy, then who approves it",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            getattr(self, f"do_{options['action']}")(options)
        except (TaskSetRefused, TaskDirError, ValueError) as error:  # DutyRefused is a ValueError
            raise CommandError(str(error)) from error

    def do_generate(self, options: dict[str, Any]) -> None:
        summary = generate(
            options["out"],
            version=options["label"],
            seed=options["seed"],
            size=options["size"],
            split=options["split"],
            reserve=options["reserve"],
            first=options["first"],
            canary=options["canary"],
            progress=self._progress("generated"),
        )
        self.stdout.write(str(summary))

    def do_import(self, options: dict[str, Any]) -> None:
        started = time.monotonic()
        store.ensure_buckets()
        folders = sorted(path for path in (options["directory"] / "tasks").iterdir() if path.is_dir())
        reports = admit_many(folders)
        refused = [report for report in reports if not report.passed]
        for report in refused[:20]:
            self.stderr.write(f"{report.task_id}: {'; '.join(report.problems)}")
        if refused:
            raise CommandError(f"{len(refused)} of {len(reports)} tasks do not pass admission")
        version = services.import_directory(options["directory"], by=BY, progress=self._progress("read"))
        digest = queries.content_digest(version)
        services.record_admission(version, digest_admitted=digest, tasks=len(reports), by=BY)
        seconds = time.monotonic() - started
        self.stdout.write(f"{version.label}: {len(reports)} tasks admitted and imported in {seconds:.0f} s")

    def do_freeze(self, options: dict[str, Any]) -> None:
        version = services.freeze(options["label"], by=BY)
        self.stdout.write(f"{version.label} is frozen, digest {version.digest}")

    def do_verify(self, options: dict[str, Any]) -> None:
        version = self._version(options["label"])
        complaints = queries.verify(version, self._progress("verified"))
        for complaint in complaints:
            self.stderr.write(complaint)
        if complaints:
            raise CommandError(f"{len(complaints)} digests differ")
        self.stdout.write(f"{version.label}: every digest of {version.tasks.count()} tasks is as recorded")

    def do_open(self, options: dict[str, Any]) -> None:
        version, profile = self._version(options["label"]), options["profile"]
        tick = DEMO_TICK_SECONDS if profile == "demo" else OFFICIAL_TICK_SECONDS
        # The demo's policy says on every page that it is one; the official one is two people's word.
        people = () if profile == "demo" else policy_people([self._person(email) for email in options["by"]])
        set_release_policy(
            version,
            profile=profile,
            tick_seconds=tick,
            rule=options["rule"],
            lineage_quota=PROFILES[profile]["lineage"],
            budget_millibits=options["budget"] * 1000 if options["budget"] else None,
            by=BY,
            people=people,
        )
        open_task_set(version, profile=profile, by=BY, people=people)
        services.open_version(version, by=BY)
        self.stdout.write(f"{version.label} is open under the {profile} policy")

    def do_status(self, options: dict[str, Any]) -> None:
        version = TaskSetVersion.objects.filter(label=options["label"]).first()
        found: dict[str, Any] = {"label": options["label"], "state": "absent", "open": False}
        if version is not None:
            tasks = TaskRevision.objects.filter(version=version).count()
            found |= {"state": version.state, "open": version.opened_at is not None, "tasks": tasks}
        self.stdout.write(json.dumps(found))

    def _version(self, label: str) -> TaskSetVersion:
        version = TaskSetVersion.objects.filter(label=label).first()
        if version is None:
            raise CommandError(f"there is no task-set version {label}")
        return version

    def _person(self, email: str) -> User:
        person = User.objects.filter(email__iexact=email).first()
        if person is None:
            raise CommandError(f"nobody signs in as {email}")
        return person

    def _progress(self, what: str) -> Any:
        if not sys.stderr.isatty():
            return None

        def show(done: int, total: int) -> None:
            sys.stderr.write(f"\r{what} {done}/{total}" + ("\n" if done == total else ""))

        return show
