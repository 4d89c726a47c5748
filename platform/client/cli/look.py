"""Commands that only look: status, result, collect, quota, verify."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import httpx
import typer

from client.cli import show
from client.cli.options import FolderOption, JsonOption, LangOption, SiteOption, TokenOption
from client.cli.session import Session, open_session
from client.cli.submit import RECEIPT, keep_receipt
from client.exits import Exit
from client.remote import waiting
from client.remote.http import NETWORK, TIMEOUT, unreachable
from client.remote.results import Verdict, exit_of, parse_bar
from client.trouble import Trouble
from client.words import say

LOG_KEY = "log.key"
SubmissionArgument = Annotated[
    str | None, typer.Argument(help=say("Its id; else the last one of this folder."))
]
BarOption = Annotated[
    list[str] | None,
    typer.Option("--min", help=say("A bar, as finance=60, held against the interval's lower end.")),
]


def status(
    *,
    submission: SubmissionArgument = None,
    every: Annotated[bool, typer.Option("--all", help=say("List the latest submissions."))] = False,
    site: SiteOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
    lang: LangOption = None,
    directory: FolderOption = None,
) -> None:
    session = open_session(site, token, directory, as_json=as_json)
    if every:
        body = session.member().get("submissions")
        session.output.result(body, show.listed(body))
        return
    identifier = session.submission(submission)
    found = session.member(identifier).get(f"submissions/{identifier}")
    session.output.result(found, show.submission(found, session.address))


def result(
    *,
    submission: SubmissionArgument = None,
    minimum: BarOption = None,
    site: SiteOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
    lang: LangOption = None,
    directory: FolderOption = None,
) -> None:
    session = open_session(site, token, directory, as_json=as_json)
    seen = _seen(session, submission, minimum)
    if seen.result is None:
        session.output.result(seen.submission, show.submission(seen.submission, session.address))
    else:
        bars = {name: verdict.value for name, verdict in seen.verdicts.items()}
        session.output.result({**seen.result, "bars": bars}, show.result(seen.result, seen.verdicts))
    raise typer.Exit(int(seen.code))


def collect(
    *,
    submission: SubmissionArgument = None,
    minimum: BarOption = None,
    site: SiteOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
    lang: LangOption = None,
    directory: FolderOption = None,
) -> None:
    session = open_session(site, token, directory, as_json=as_json)
    seen = _seen(session, submission, minimum)
    lines = show.submission(seen.submission, session.address)
    if seen.result is not None:
        lines += ["", *show.markdown(seen.result, seen.verdicts)]
    _summarise(session, lines)
    session.output.result({"submission": seen.submission, "result": seen.result}, lines)
    raise typer.Exit(int(seen.code))


@dataclass(frozen=True)
class _Seen:
    """A submission, and its result with what it says about each bar where one is released."""

    submission: dict[str, Any]
    code: Exit
    result: dict[str, Any] | None = None
    verdicts: Mapping[str, Verdict] = field(default_factory=dict)


def _seen(session: Session, submission: str | None, minimum: list[str] | None) -> _Seen:
    """Look once. Raises Trouble."""
    bars = [parse_bar(text) for text in minimum or []]
    identifier = session.submission(submission)
    member = session.member(identifier)
    found = member.get(f"submissions/{identifier}")
    if found["state"] not in ("complete", "incomplete"):
        return _Seen(found, waiting.exit_of(found))
    body = member.get(f"submissions/{identifier}/result")
    code, verdicts = exit_of(body, bars)
    return _Seen(found, code, body, verdicts)


def _summarise(session: Session, lines: list[str]) -> None:
    """Add to the summary of the CI job, where it has one."""
    path = session.environment.get("GITHUB_STEP_SUMMARY") or session.environment.get("LGBENCH_SUMMARY")
    if path:
        with Path(path).open("a", encoding="utf-8") as file:
            file.write("## lgbench\n\n" + "\n".join(lines) + "\n")


def quota(
    *,
    site: SiteOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
    lang: LangOption = None,
    directory: FolderOption = None,
) -> None:
    session = open_session(site, token, directory, as_json=as_json)
    body = session.member().get("quota")
    session.output.result(body, show.quota(body))


def verify(
    *,
    receipt: Annotated[
        Path | None, typer.Argument(help=say("A receipt; else that of this folder's submission."))
    ] = None,
    key: Annotated[
        str | None, typer.Option("--key", help=say("The log's key or a file of its keys; else the kept one."))
    ] = None,
    site: SiteOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
    lang: LangOption = None,
    directory: FolderOption = None,
) -> None:
    session = open_session(site, token, directory, as_json=as_json)
    path = receipt or _receipt(session)
    trusted = key or _key(session)
    from client.audit.main import main as audit

    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        code = audit(["verify", str(path), "--key", trusted])
    text = said.getvalue().strip()
    session.output.result({"ok": code == 0, "receipt": str(path), "report": text}, text.splitlines())
    if code:
        raise typer.Exit(int(Exit.PLATFORM if code == 1 else Exit.USAGE))


def _receipt(session: Session) -> Path:
    """The kept receipt; fetched where it is not there yet or says nothing of the release."""
    path = session.project.state / RECEIPT
    if "release" in (session.project.kept(RECEIPT) or {}):
        return path
    try:
        identifier = session.submission(None)
        keep_receipt(session, session.member(identifier), identifier)
    except Trouble:
        if not path.exists():
            raise
    return path


def _key(session: Session) -> str:
    """The file of the log's keys that was kept; fetched once, and told, where there is none."""
    path = session.project.made_state() / LOG_KEY
    if not path.exists():
        address = session.required_address()
        try:
            answer = httpx.get(f"{address}/log/keys", timeout=TIMEOUT)
        except NETWORK as error:
            raise unreachable(address, error) from None
        if answer.is_error:
            raise Trouble(
                "no_log_key",
                say("The site did not give the key of its log."),
                hint=say("Name a key that you have from elsewhere: --key FILE"),
                exit=Exit.PLATFORM,
            )
        path.write_text(answer.text, encoding="utf-8")
        session.output.note(say("The log's key was fetched now and is kept in {path}.").format(path=path))
    return str(path)
