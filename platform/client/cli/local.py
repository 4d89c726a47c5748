"""`lgbench run-local`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from client.check import check_package, check_project
from client.cli.check import tell
from client.cli.options import FolderOption, ImageOption, JsonOption, LangOption, SiteOption
from client.cli.session import open_session
from client.exits import Exit
from client.words import say

CRASHED_PERCENT = 20
"""Above this share of runs that crashed and left nothing, a preflight fails."""


def run_local(
    *,
    package: Annotated[
        Path | None,
        typer.Argument(
            help=say("A packed bundle (.tar.gz) or an image archive; else the harness folder."),
            dir_okay=False,
        ),
    ] = None,
    tasks: Annotated[Path, typer.Option("--tasks", help=say("Folder of a task set, with its taskset.toml."))],
    only: Annotated[str, typer.Option("--only", help=say("The id of one task."))] = "",
    limit: Annotated[int, typer.Option("--limit", min=0, help=say("How many tasks at most; 0 is all."))] = 0,
    models: Annotated[
        Path | None,
        typer.Option("--models", help=say("Where the upstreams of harness.toml are (TOML)."), dir_okay=False),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help=say("EPISODE_SEED of every run."))] = 1,
    root: Annotated[
        Path | None,
        typer.Option(
            "--root", help=say("The base root, as `make rootfs` makes it; else the host's."), dir_okay=False
        ),
    ] = None,
    image: ImageOption = None,
    engine: Annotated[
        str, typer.Option("--engine", help=say("bubblewrap, podman or docker; else the first that is there."))
    ] = "",
    site: SiteOption = None,
    as_json: JsonOption = False,
    lang: LangOption = None,
    directory: FolderOption = None,
) -> None:
    from client.local.episode import Ran, run_all, tasks_in, unpack_harness
    from client.local.ground import chosen as engine_chosen
    from client.local.ground import prepared
    from client.local.models import routes

    session = open_session(site, None, directory, as_json=as_json)
    package = package or image
    checked = check_package(package) if package else check_project(session.project)
    if checked.findings or checked.manifest is None:
        tell(session.output, checked, session.address)
        raise typer.Exit(int(Exit.HARNESS))
    upstreams = routes(models, checked.manifest, os.environ)
    holder = engine_chosen(engine, models=bool(upstreams))
    chosen = tasks_in(tasks, only)
    chosen = chosen[:limit] if limit else chosen
    place = session.project.made_state() / "local"
    harness = None if checked.image else unpack_harness(checked.bundle.path, place / "harness")
    with (
        prepared(checked, harness, place, root, holder) as ground,
        session.output.bar(say("Running")) as bar,
    ):

        def report(number: int, ran: Ran) -> None:
            bar(number, len(chosen))
            if not as_json:
                typer.echo(
                    f"{ran.task:<44} {ran.ending:<17} {ran.score:>6} {ran.failure_type if not ran.success else 'ok'}"
                )

        found = run_all(
            chosen, ground, checked.manifest, place / "runs", seed=seed, report=report, routes=upstreams
        )
    crashed = [ran for ran in found if ran.ending == "crashed" and not ran.left_something]
    content = {
        "tasks": [ran.shown() for ran in found],
        "successes": sum(ran.success for ran in found),
        "crashed": len(crashed),
    }
    words = say(
        "{successes} of {total} tasks succeeded; {crashed} crashed and left nothing. Everything is in {path}."
    )
    line = words.format(
        successes=content["successes"], total=len(found), crashed=len(crashed), path=place / "runs"
    )
    session.output.result(content, [line])
    if len(crashed) * 100 > len(found) * CRASHED_PERCENT:
        raise typer.Exit(int(Exit.HARNESS))
