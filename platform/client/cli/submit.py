"""`lgbench submit` and `lgbench wait`."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

import typer

from client.check import check_project
from client.cli import show
from client.cli.check import tell
from client.cli.options import FolderOption, ImageOption, JsonOption, LangOption, SiteOption, TokenOption
from client.cli.session import Session, open_session
from client.exits import Exit
from client.remote import waiting
from client.remote.http import Site
from client.remote.submitting import Submitter
from client.trouble import Trouble
from client.words import say

RECEIPT = "receipt.json"


def submit(
    *,
    image: ImageOption = None,
    follow: Annotated[
        bool, typer.Option("--wait", help=say("Wait for the end, then show the result."))
    ] = False,
    resume: Annotated[
        bool, typer.Option("--resume", help=say("Send only the parts that are missing."))
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help=say("Everything but admission: check, and what it would cost."))
    ] = False,
    rerun_offer: Annotated[
        UUID | None,
        typer.Option("--rerun-offer", help=say("Take this offer of a re-run: it costs no use of the quota.")),
    ] = None,
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
    acting, credentials = session.acting(checked.manifest.name)
    with session.output.bar(say("Uploading")) as report:
        submitter = Submitter(
            acting,
            session.project,
            checked,
            checked.manifest,
            checked.card,
            session.output.note,
            report,
            resume,
            rejoin=bool(credentials.watch),
            rerun_offer=str(rerun_offer) if rerun_offer else "",
        )
        if dry_run:
            _tell_preview(session, submitter)
        submission = submitter.run()
    credentials.keep_watch(session.project, acting.address, submission["id"])
    watching = Site(acting.address, credentials.watch or credentials.act)
    receipt = keep_receipt(session, watching, submission["id"])
    if follow:
        end(session, watching, submission["id"], timeout)
    content = {
        **watching.get(f"submissions/{submission['id']}"),
        "receipt": receipt,
        "note": submission.get("note"),
    }
    if not session.project.harness_id:
        words = say('To name the harness by its id in CI, add to lgbench.toml: harness_id = "{id}"')
        session.output.note(words.format(id=content["harness"]))
    session.output.result(content, show.admitted(content, session.address))


def _tell_preview(session: Session, submitter: Submitter) -> None:
    found = submitter.preview()
    session.output.result(found, show.preview(found))
    raise typer.Exit(0)


def keep_receipt(session: Session, site: Site, submission_id: str) -> str:
    """Fetch the receipt as soon as the log has signed the admission; its path, or empty where that takes longer."""
    try:
        body = site.get(f"submissions/{submission_id}/receipt")
    except Trouble as trouble:
        if trouble.code != "receipt_not_ready":
            raise
        session.output.note(say("The receipt is not ready yet; fetch it later with `lgbench verify`."))
        return ""
    return str(session.project.keep(RECEIPT, body))


def wait(
    *,
    submission: Annotated[
        str | None, typer.Argument(help=say("Its id; else the last one of this folder."))
    ] = None,
    timeout: Annotated[float | None, typer.Option("--timeout", help=say("Seconds to wait at most."))] = None,
    site: SiteOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
    lang: LangOption = None,
    directory: FolderOption = None,
) -> None:
    session = open_session(site, token, directory, as_json=as_json)
    identifier = session.submission(submission)
    end(session, session.member(identifier), identifier, timeout)


def end(session: Session, site: Site, submission_id: str, timeout: float | None) -> None:
    """Follow to the end, show what came of it, and leave with its exit code."""
    seen: list[str] = []

    def report(found: dict[str, Any]) -> None:
        line = show.moving(found)
        if line not in seen[-1:]:
            seen.append(line)
            session.output.note(line)
        bar(int(found.get("progress") or 0), 100)

    with session.output.bar(say("Running")) as bar:
        found = waiting.follow(site, submission_id, timeout=timeout, report=report)
    code = waiting.exit_of(found)
    if found["state"] in ("complete", "incomplete"):
        result = site.get(f"submissions/{submission_id}/result")
        session.project.keep("result.json", result)
        session.output.result({**found, "result": result}, show.result(result, {}))
    else:
        session.output.result(found, show.submission(found, session.address))
    raise typer.Exit(int(code))
