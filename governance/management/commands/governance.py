"""`manage.py governance …`: the detectors over recorded streams and over real history; the rules as text."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

if TYPE_CHECKING:
    from benchmark.models import TaskSetVersion
    from governance.detection.calibration import Honest
    from governance.detection.levels import Levels
    from governance.detection.streams import Recorded
    from governance.detection.tasks import TaskTable

UNREADABLE = (OSError, ValueError, KeyError)
"""A directory that is no stream, or a malformed line of one."""


def _version(label: str) -> TaskSetVersion:
    from benchmark.models import TaskSetVersion

    found = TaskSetVersion.objects.filter(label=label).first()
    if found is None:
        raise CommandError(f"there is no version {label}")
    return found


def _undoubted(task_set: TaskSetVersion) -> Honest:
    """What happened on a version, without lineages that an alarm accuses; false ones make levels higher."""
    from governance.desk.queries import doubted
    from governance.detection.calibration import Honest
    from governance.watch import banks, state

    doubts = doubted(task_set)
    history = (one for one in state.history(task_set.pk) if one.organisation not in doubts)
    return Honest(f"version {task_set.label}", banks.bank_of(task_set.pk).table, history)


class Command(BaseCommand):
    """Over a stream nothing touches the database; numerical libraries are imported only when a command runs."""

    help = "Run the detectors over streams or real history, fit and set levels, or try made-up attackers on them."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        replay = actions.add_parser("replay", help="analyse a stream and write report.json")
        replay.add_argument("stream", type=Path)
        replay.add_argument("--report", type=Path, required=True, metavar="FILE")
        replay.add_argument("--levels", type=Path, metavar="FILE", help="instead of those that are shipped")
        calibrate = actions.add_parser(
            "calibrate", help="fit the levels to streams that are known to be honest"
        )
        calibrate.add_argument("streams", type=Path, nargs="*")
        calibrate.add_argument(
            "--task-set",
            metavar="LABEL",
            action="append",
            default=[],
            help="and to the lineages of a version that nothing accuses, or whose alarms were found false",
        )
        calibrate.add_argument("--out", type=Path, required=True, metavar="FILE")
        calibrate.add_argument("--worlds", type=int, default=0, help="and to so many made-up honest worlds")
        calibrate.add_argument("--runs", type=int, default=3, help="runs of each task in those")
        drill = actions.add_parser(
            "drill", help="made-up attackers in a copy of a history, in memory only: what is caught, by kind"
        )
        drill.add_argument("stream", type=Path, nargs="?")
        drill.add_argument(
            "--task-set", metavar="LABEL", help="instead of a stream: what happened on a version"
        )
        drill.add_argument("--times", type=int, default=5)
        drill.add_argument("--seed", type=int, default=1)
        drill.add_argument("--levels", type=Path, metavar="FILE")
        analyse = actions.add_parser("analyse", help="analyse what was released without, oldest first")
        analyse.add_argument("--task-set", metavar="LABEL", help="of this version only")
        levels = actions.add_parser(
            "levels", help="set the levels of live detection from a calibration's file"
        )
        levels.add_argument("file", type=Path)
        levels.add_argument("--runs", type=int, required=True, help="runs of each task that they hold for")
        exposure = actions.add_parser(
            "exposure", help="work out again what answers could tell, and compare with what was written down"
        )
        exposure.add_argument("task_set", metavar="LABEL")
        document = actions.add_parser("document", help="print the Held-out Governance Rules as they stand")
        document.add_argument("--language", choices=["en", "zh-hans"], default="en")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            getattr(self, f"do_{options['action']}")(options)
        except UNREADABLE as error:
            raise CommandError(f"{type(error).__name__}: {error}") from error

    def do_replay(self, options: dict[str, Any]) -> None:
        from governance.detection import levels, report, streams
        from governance.detection.analysis import Analysis

        analysis = Analysis(
            streams.read_tasks(options["stream"]), levels.read(options["levels"] or levels.SHIPPED)
        )
        for submission in streams.read_submissions(options["stream"]):
            analysis.observe(submission)
        found = report.make(analysis)
        options["report"].write_text(json.dumps(found, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        self.stdout.write(
            f"{len(analysis.store)} submissions, {len(found['flagged_accounts'])} accounts flagged, "
            f"{len(found['gap_alerts'])} gap alerts: {options['report']}"
        )

    def do_calibrate(self, options: dict[str, Any]) -> None:
        from governance.detection import calibration

        if not options["streams"] and not options["worlds"] and not options["task_set"]:
            raise CommandError("name a stream, a version or a number of worlds")
        found = calibration.calibrate(self._honest(options))
        options["out"].write_text(found.to_json(), encoding="utf-8")
        self.stdout.write(f"{found.record['lineages']} honest lineages: {options['out']}")

    def do_drill(self, options: dict[str, Any]) -> None:
        from governance.detection import drill, levels, streams

        if options["times"] < 1:
            raise CommandError("at least once")
        if (options["stream"] is None) == (options["task_set"] is None):
            raise CommandError("name a stream, or a version with --task-set")
        if options["stream"] is not None:
            table = streams.read_tasks(options["stream"])
            history = list(streams.read_submissions(options["stream"]))
            reached = levels.read(options["levels"] or levels.SHIPPED)
        else:
            table, history, reached = self._real(options)
        if not history:
            raise CommandError("this history is empty")
        found = drill.drill(table, history, reached, times=options["times"], seed=options["seed"])
        self.stdout.write(json.dumps(found, indent=1))

    def do_analyse(self, options: dict[str, Any]) -> None:
        from audit.events import system
        from governance.watch import queries, services

        task_set = _version(options["task_set"]) if options["task_set"] else None
        lost = queries.not_analysed(task_set)
        count = services.analyse_lost(lost, by=system("operator"))
        self.stdout.write(f"{count} analysed")

    def do_levels(self, options: dict[str, Any]) -> None:
        from audit.events import system
        from governance.detection import levels
        from governance.watch.levels import set_levels

        row = set_levels(levels.read(options["file"]), runs_per_task=options["runs"], by=system("operator"))
        self.stdout.write(
            f"{row.pk} holds from {row.valid_from.isoformat()} for {row.runs_per_task} runs a task"
        )

    def do_exposure(self, options: dict[str, Any]) -> None:
        from governance.watch import exposing

        different = exposing.differences(_version(options["task_set"]))
        if different:
            raise CommandError(f"differs from what was written down for {len(different)} runs: {different}")
        self.stdout.write("as written down")

    def _real(self, options: dict[str, Any]) -> tuple[TaskTable, list[Recorded], Levels]:
        """What the detectors took of a version so far, and the levels that hold now unless a file is named."""
        from governance.detection import levels
        from governance.watch import banks, state

        task_set = _version(options["task_set"])
        history = state.history(task_set.pk)
        if options["levels"]:
            return banks.bank_of(task_set.pk).table, history, levels.read(options["levels"])
        return banks.bank_of(task_set.pk).table, history, state.levels_now(task_set.pk)

    def do_document(self, options: dict[str, Any]) -> None:
        from governance import rulebook

        self.stdout.write(rulebook.markdown(options["language"]))

    def _honest(self, options: dict[str, Any]) -> Iterator[Honest]:
        from governance.detection import streams
        from governance.detection.calibration import Honest
        from governance.detection.synthetic.worlds import world

        for folder in options["streams"]:
            yield Honest(folder.name, streams.read_tasks(folder), streams.read_submissions(folder))
        for label in options["task_set"]:
            yield _undoubted(_version(label))
        for seed in range(options["worlds"]):
            made = world(100_000 + seed, honest=60, attackers=0, runs=options["runs"])
            yield Honest(f"made-up {100_000 + seed}", made.table, made.submissions)
