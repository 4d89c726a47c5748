"""`lgbench preflight`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from client.check import check_project
from client.cli.check import tell
from client.cli.options import FolderOption, ImageOption, JsonOption, LangOption, SiteOption, TokenOption
from client.cli.session import Session, open_session
from client.exits import Exit
from client.remote import waiting
from client.remote.http import Site, explained
from client.remote.preflighting import Preflighter
from client.words import say

RUNS = "preflight.json"


def preflight(
    *,
    image: ImageOption = None,
    follow: Annotated[
        bool, typer.Option("--wait", help=say("Wait for the end, then keep the logs."))
    ] = False,
    resume: Annotated[
        bool, typer.Option("--resume", help=say("Send only the parts that are missing."))
    ] = False,
    timeout: Annotated[float | None, typer.Option("--timeout", help=say("Seconds to wait at most."))] = None,
    site: SiteOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
    lang: LangOption = None,
    directory: FolderOption = None,
) -> None:
    session = open_session(site, token, directory, as_json=as_json)
    checked = check_project(session.project, image)
    if checked.findings or checked.manifest is None or checked.card is None:
        tell(session.output, checked, session.address)
        raise typer.Exit(int(Exit.HARNESS))
    acting, _credentials = session.acting(checked.manifest.name)
    with session.output.bar(say("Uploading")) as report:
        started = Preflighter(
            acting,
            session.project,
            checked,
            checked.manifest,
            checked.card,
            session.output.note,
            report,
            resume,
        ).run()
    if follow:
        end(session, acting, started["id"], timeout)
    found = acting.get(f"preflights/{started['id']}")
    next_step = say("Next: `lgbench preflight --wait`; it finds this one again.")
    session.output.result(found, [*shown(found, session.address), next_step])


def end(session: Session, site: Site, preflight_id: str, timeout: float | None) -> None:
    """Follow to the end, keep every run with its logs, and leave with the exit code."""
    seen: list[str] = []

    def report(found: dict[str, Any]) -> None:
        line = f"{found['state']} {found['run']['done']}/{found['run']['total']}"
        if line not in seen[-1:]:
            seen.append(line)
            session.output.note(line)
        bar(found["run"]["done"], found["run"]["total"])

    with session.output.bar(say("Running")) as bar:
        found = waiting.follow(site, preflight_id, timeout=timeout, report=report, kind="preflights")
    lines = shown(found, session.address)
    if found["run"]["done"]:
        path = session.project.keep(RUNS, site.get(f"preflights/{preflight_id}/runs"))
        lines.append(say("Every run with its logs: {path}").format(path=path))
    session.output.result(found, lines)
    raise typer.Exit(int(waiting.exit_of(found)))


def shown(found: dict[str, Any], site: str) -> list[str]:
    """State and counts, and what is to be said about it."""
    run = found["run"]
    lines = [
        say("Preflight {id}").format(id=found["id"]),
        say("  version {version} on task set {task_set}").format(
            **{key: found[key] for key in ("version", "task_set")}
        ),
        say("  state {state}; {done} of {total} runs, {crashed} crashed and left nothing").format(
            state=found["state"], **{key: run[key] for key in ("done", "total", "crashed")}
        ),
    ]
    outcome = found.get("outcome")
    if outcome and found.get("failure_class"):
        lines.append(f"  {outcome['code']}: {outcome['detail']}")
        lines.append("  " + say("Next: {hint}").format(hint=outcome["remedy"]))
        lines.append("  " + say("Help: {link}").format(link=explained(site, outcome["code"])))
    return lines
