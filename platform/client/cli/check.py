"""`lgbench init` and `lgbench check`."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Annotated

import typer

from client import kit
from client.check import Found, check_project
from client.check.package import Checked
from client.cli.options import FolderOption, ImageOption, JsonOption, LangOption, SiteOption
from client.cli.output import Output
from client.cli.session import open_session
from client.exits import Exit
from client.words import say

DEFAULT_SITE = "http://127.0.0.1:8000"


def init(
    *,
    folder: Annotated[Path, typer.Argument(help=say("Where to write the kit."))] = Path(),
    name: Annotated[
        str | None, typer.Option("--name", help=say("Name of the harness; else the folder's."))
    ] = None,
    site: SiteOption = None,
    as_json: JsonOption = False,
    lang: LangOption = None,
) -> None:
    session = open_session(site, None, folder, as_json=as_json)
    chosen = name or re.sub(r"[^a-z0-9]+", "-", folder.resolve().name.lower()).strip("-")
    written = kit.write(folder, name=chosen, site=session.address or DEFAULT_SITE)
    lines = [str(path) for path in written]
    following = (
        "lgbench check"
        if folder.resolve() == Path.cwd()
        else f"cd {shlex.quote(str(folder))} && lgbench check"
    )
    lines.append(say("Harness {name} is ready.").format(name=chosen))
    lines.append(say("Next: {hint}").format(hint=following))
    session.output.result(
        {"name": chosen, "next": following, "written": [str(path) for path in written]}, lines
    )


def check(
    *,
    image: ImageOption = None,
    site: SiteOption = None,
    as_json: JsonOption = False,
    lang: LangOption = None,
    directory: FolderOption = None,
) -> None:
    session = open_session(site, None, directory, as_json=as_json)
    checked = check_project(session.project, image)
    tell(session.output, checked, session.address)
    if checked.findings:
        raise typer.Exit(int(Exit.HARNESS))


def tell(output: Output, checked: Checked, site: str) -> None:
    """The whole outcome of a check."""
    content = {
        "ok": not checked.findings,
        "digest": checked.bundle.digest,
        "size": checked.bundle.size,
        "entries": checked.entries,
        "unpacked": checked.unpacked,
        "findings": [found.shown(site) for found in checked.findings],
    }
    lines = [line for found in checked.findings for line in finding_lines(found, site)]
    if checked.findings:
        count = len(checked.findings)
        words = (
            say("1 finding; nothing was sent.") if count == 1 else say("{count} findings; nothing was sent.")
        )
        lines.append(words.format(count=count))
    else:
        lines.append(
            say("OK: {entries} entries, {size} bytes packed, sha256 {digest}").format(
                entries=checked.entries, size=checked.bundle.size, digest=checked.bundle.digest
            )
        )
    output.result(content, lines)


def finding_lines(found: Found, site: str) -> list[str]:
    """One finding for people."""
    return [
        f"{found.file}: {found.path}: {found.rule.value}",
        "  " + say("expected: {text}").format(text=found.expected),
        "  " + say("found:    {text}").format(text=found.found),
        "  " + say("fix:      {text}").format(text=found.fix),
        "  " + say("help:     {link}").format(link=found.link(site)),
    ]
