"""`manage.py governance replay|calibrate|drill`: the detectors over recorded streams, outside the site's processes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

if TYPE_CHECKING:
    from governance.detection.calibration import Honest

UNREADABLE = (OSError, ValueError, KeyError)
"""A directory that is no stream, or a malformed line of one."""


class Command(BaseCommand):
    """Nothing here reads or changes the database; numerical libraries are imported only when a command runs."""

    help = "Run the detectors over recorded streams, fit their levels, or try made-up attackers on them."
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
        calibrate.add_argument("--out", type=Path, required=True, metavar="FILE")
        calibrate.add_argument("--worlds", type=int, default=0, help="and to so many made-up honest worlds")
        calibrate.add_argument("--runs", type=int, default=3, help="runs of each task in those")
        drill = actions.add_parser(
            "drill", help="made-up attackers in a copy of a stream: what is caught, by kind"
        )
        drill.add_argument("stream", type=Path)
        drill.add_argument("--times", type=int, default=5)
        drill.add_argument("--seed", type=int, default=1)
        drill.add_argument("--levels", type=Path, metavar="FILE")

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

        if not options["streams"] and not options["worlds"]:
            raise CommandError("name a stream, or a number of worlds")
        found = calibration.calibrate(self._honest(options))
        options["out"].write_text(found.to_json(), encoding="utf-8")
        self.stdout.write(f"{found.record['lineages']} honest lineages: {options['out']}")

    def do_drill(self, options: dict[str, Any]) -> None:
        from governance.detection import drill, levels, streams

        if options["times"] < 1:
            raise CommandError("at least once")
        table = streams.read_tasks(options["stream"])
        history = list(streams.read_submissions(options["stream"]))
        if not history:
            raise CommandError("this stream is empty")
        found = drill.drill(
            table,
            history,
            levels.read(options["levels"] or levels.SHIPPED),
            times=options["times"],
            seed=options["seed"],
        )
        self.stdout.write(json.dumps(found, indent=1))

    def _honest(self, options: dict[str, Any]) -> Iterator[Honest]:
        from governance.detection import streams
        from governance.detection.calibration import Honest
        from governance.detection.synthetic.worlds import world

        for folder in options["streams"]:
            yield Honest(folder.name, streams.read_tasks(folder), streams.read_submissions(folder))
        for seed in range(options["worlds"]):
            made = world(100_000 + seed, honest=60, attackers=0, runs=options["runs"])
            yield Honest(f"made-up {100_000 + seed}", made.table, made.submissions)
