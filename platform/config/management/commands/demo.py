"""`manage.py demo`: the main job for real, on a bare machine: one harness, every held-out task, four aggregates."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from config.site.ci_job import Job, JobFailed, bundle
from config.site.stage import Stage, StageError, stage
from embedded.services import ServiceError

HARNESSES = Path(__file__).resolve().parents[4] / "tests/harnesses"
NAMES = {
    "general": "General",
    "finance": "Finance",
    "supply_chain": "Supply chain",
    "manufacturing": "Manufacturing",
    "enterprise": "Enterprise (mean of its three)",
}


class Command(BaseCommand):
    """Starts everything, acts as a vendor's CI job, prints the result, and leaves nothing running."""

    help = "Run the main job end to end on this machine."
    requires_system_checks = []  # noqa: RUF012 - Django's own spelling

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--size", choices=["full", "mini"], default="full")
        parser.add_argument("--harness", default="rule-script", help="a folder below tests/harnesses")
        parser.add_argument("--seed", type=int, default=20261101)

    def handle(self, *args: Any, **options: Any) -> None:
        started = float(os.environ.get("LINGEE_SETUP_STARTED", time.time()))
        console = Console(stderr=True)
        version = "2026.1" if options["size"] == "full" else "2026.1-mini"
        try:
            with stage(settings.STATE_DIR, "make demo", lambda text: console.print(f"· {text}")) as site:
                site.prepare(version, size=options["size"], seed=options["seed"])
                vendor = site.ask("console", "seed", "--task-set", version)
                site.start(console=False)
                setup = time.time() - started
                line = run_job(site, console, HARNESSES / options["harness"], vendor, version)
                line |= {
                    "setup_seconds": round(setup, 1),
                    "run_seconds": round(time.time() - started - setup, 1),
                }
        except (StageError, JobFailed, ServiceError) as error:
            raise CommandError(str(error)) from error
        path = f"/en/v/submissions/{line['submission']}/"
        serve = "make serve" if options["size"] == "full" else 'make serve ARGS="--size mini"'
        console.print(
            f"Look at it: {serve}, sign in as the demo vendor it names, and open {path}", soft_wrap=True
        )
        sys.stdout.write(json.dumps(line) + "\n")


def run_job(
    site: Stage, console: Console, folder: Path, vendor: dict[str, Any], task_set: str
) -> dict[str, Any]:
    """What a CI job does; returns the demo's closing line."""
    job = Job(site.address, vendor["token"], wait=site.supervisor.wait)
    card = json.loads((folder / "card.json").read_text())
    version = f"0.3.1+{vendor['run']}"
    version_id = job.register(folder.name, folder.name, version, card)
    upload_id = job.upload(version_id, bundle(folder, version))
    submission = job.submit(version_id, upload_id, task_set)
    columns = (TextColumn("{task.description:>12}"), BarColumn(), TextColumn("{task.percentage:>3.0f} %"))
    with Progress(*columns, TimeElapsedColumn(), console=console) as progress:
        bar = progress.add_task("submitted", total=100)
        job.follow(
            submission["id"], lambda state, done: progress.update(bar, description=state, completed=done)
        )
        progress.update(bar, completed=100)
    result = job.result(submission["id"])
    console.print(table_of(result))
    shown = {name: {"value": row["value"], "h": row["h"]} for name, row in result["domains"].items()}
    enterprise = result["enterprise"]
    return {
        "submission": submission["id"],
        "state": "complete",
        "episodes": result["episodes"],
        "coverage": float(result["coverage"]),
        "domains": shown,
        "enterprise": {"value": enterprise["value"], "h": enterprise["h"]},
    }


def table_of(result: dict[str, Any]) -> Table:
    """The result as a person reads it; no total, because domains are scored differently."""
    table = Table(title="Domain aggregates", caption="Points ± h. There is no overall total.")
    table.add_column("Domain")
    table.add_column("Score", justify="right")
    for name, row in [*result["domains"].items(), ("enterprise", result["enterprise"])]:
        shown = "not reportable" if row["value"] is None else f"{row['value']} ± {row['h']}"
        table.add_row(NAMES[name], shown)
    return table
