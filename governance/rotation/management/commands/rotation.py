"""`manage.py rotation …`: profile, open, draw, compose, anchors, enforce, stock. Sealed work, on the host."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError, CommandParser

from audit.events import Actor
from benchmark.models import TaskSetVersion
from benchmark.services import TaskSetRefused
from governance.rotation import composing, intake, planning, profiling, queries, trials
from governance.rotation.trials import Baseline, TrialFailed
from submissions.problems import Refused

BY = Actor(kind="system", id="rotation", channel="command")


class Command(BaseCommand):
    """Two people decide on the console's pages; here is what needs the sealed keys, and what takes long."""

    help = "Profile tasks, draw a rotation by a committed seed, and make the next version of it."

    def add_arguments(self, parser: CommandParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        profile = actions.add_parser(
            "profile", help="run fixed harnesses on held-out, public and reserve tasks"
        )
        profile.add_argument("--version", dest="label", required=True)
        profile.add_argument("--seed", default="profile")
        profile.add_argument(
            "--random",
            metavar="FOLDER",
            help="which of the harnesses answers by chance: tasks on which it scores are reported as problems",
        )
        self._harnesses(profile, "--baselines")
        open_ = actions.add_parser("open", help="commit the seed of the next version's rotation")
        open_.add_argument("label")
        open_.add_argument("--next", required=True, help="label of the next version")
        open_.add_argument("--seed-digest", required=True, help="SHA-256 of the seed")
        draw = actions.add_parser("draw", help="draw by the committed seed and match replacements")
        draw.add_argument("plan", type=UUID)
        draw.add_argument("--seed", required=True)
        compose = actions.add_parser("compose", help="draft the next version of an approved plan")
        compose.add_argument("plan", type=UUID)
        anchors = actions.add_parser(
            "anchors", help="run three fixed harnesses on both versions, the last twice"
        )
        anchors.add_argument("plan", type=UUID)
        anchors.add_argument("--seed", default="anchors")
        self._harnesses(anchors, "--anchors")
        enforce = actions.add_parser("enforce", help="freeze the next version and say the batch in public")
        enforce.add_argument("plan", type=UUID)
        actions.add_parser("stock", help="the reserve by stratum").add_argument("label")

    def _harnesses(self, parser: CommandParser, name: str) -> None:
        parser.add_argument(
            name,
            dest="harnesses",
            nargs="+",
            required=True,
            metavar="FOLDER[@PERCENT]",
            help="a folder with run.py, and the share of the values in its answers that is made wrong",
        )
        parser.add_argument("--runs", type=int, default=3)

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            getattr(self, f"do_{options['action']}")(options)
        except Refused as refused:
            raise CommandError(f"{refused.refusal.detail} [{refused.refusal.code}]") from refused
        except (TaskSetRefused, TrialFailed, ValueError) as error:
            raise CommandError(str(error)) from error

    def do_profile(self, options: dict[str, Any]) -> None:
        baselines, chance = self._parsed(options["harnesses"]), options["random"]
        if chance and chance not in {baseline.label for baseline in baselines}:
            raise CommandError(f"{chance} is not among the harnesses")
        row = profiling.profile(
            self._version(options["label"]),
            baselines,
            runs=options["runs"],
            seed=options["seed"],
            by=BY,
        )
        self.stdout.write(
            f"{row.tasks} tasks profiled by {len(row.baselines)} baselines, digest {row.digest}"
        )
        if chance:
            found = profiling.report_chance(row, chance, by=BY)
            self.stdout.write(f"{len(found)} tasks reported on which {chance} scores")

    def do_open(self, options: dict[str, Any]) -> None:
        version = self._version(options["label"])
        plan = planning.open_plan(version, label=options["next"], seed_digest=options["seed_digest"], by=BY)
        self.stdout.write(f"{plan.id}")

    def do_draw(self, options: dict[str, Any]) -> None:
        found = queries.plan(options["plan"])
        if found is None:
            raise CommandError("there is no such plan")
        plan = planning.draw(found.pk, seed=options["seed"], unexposed=intake.unexposed(found.former), by=BY)
        for row in queries.changes(plan):
            self.stdout.write(f"{row.domain}: {row.leaving} of {row.held_out} leave")
        failed = ", ".join(plan.checks["failed"])
        self.stdout.write(f"not accepted: {failed}" if failed else "all checks hold; two people decide now")

    def do_compose(self, options: dict[str, Any]) -> None:
        version = composing.compose(options["plan"], by=BY)
        self.stdout.write(f"{version.label} is drafted and admitted; run the anchors next")

    def do_anchors(self, options: dict[str, Any]) -> None:
        anchors = self._parsed(options["harnesses"])
        composing.run_anchors(options["plan"], anchors, runs=options["runs"], seed=options["seed"], by=BY)
        found = queries.plan(options["plan"])
        assert found is not None
        for domain, row in composing.shifts_of(found).items():
            self.stdout.write(
                f"{domain}: mean {row['mean']:+.2f}, worst {row['worst']:+.2f}, repeated {row['repeat']:+.2f} points"
            )

    def do_enforce(self, options: dict[str, Any]) -> None:
        found = composing.put_in_force(options["plan"], by=BY)
        self.stdout.write(
            f"{found.next.label} is frozen and follows {found.former.label}; open it with taskset open"
        )

    def do_stock(self, options: dict[str, Any]) -> None:
        for row in queries.stock(self._version(options["label"])):
            mark = "SHORT" if row.is_short else "ok"
            self.stdout.write(
                f"{' / '.join(map(str, row.stratum))}: {row.stock}, {row.needed:.1f} needed, {mark}"
            )

    def _parsed(self, texts: Sequence[str]) -> list[Baseline]:
        return [trials.parsed(text) for text in texts]

    def _version(self, label: str) -> TaskSetVersion:
        version = TaskSetVersion.objects.filter(label=label).first()
        if version is None:
            raise CommandError(f"there is no task-set version {label}")
        return version
