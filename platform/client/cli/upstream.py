"""`lgbench upstream list` and `lgbench upstream test`.

Upstreams and their credentials are changed on the site alone, by somebody with a second factor: whoever could do that
with a token could have held-out tasks sent to an endpoint of their own.
"""

from __future__ import annotations

from typing import Annotated

import typer

from client.cli import show
from client.cli.options import FolderOption, JsonOption, LangOption, SiteOption, TokenOption
from client.cli.session import open_session
from client.exits import of_trial
from client.remote import upstreams
from client.words import say


def listed(
    *,
    site: SiteOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
    lang: LangOption = None,
    directory: FolderOption = None,
) -> None:
    session = open_session(site, token, directory, as_json=as_json)
    member = session.member()
    body = {
        "upstreams": member.pages("upstreams"),
        "platform": member.get("upstreams", {"limit": "1"})["platform"],
    }
    session.output.result(body, show.upstreams(body, session.required_address()))


def try_out(
    *,
    name: Annotated[str, typer.Argument(help=say("Its name or id."))],
    timeout: Annotated[float, typer.Option("--timeout", min=0, help=say("Seconds to wait at most."))] = 120.0,
    site: SiteOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
    lang: LangOption = None,
    directory: FolderOption = None,
) -> None:
    session = open_session(site, token, directory, as_json=as_json)
    member = session.member()
    found = upstreams.try_out(member, upstreams.find(member, name)["id"], timeout=timeout)
    session.output.result(found, [show.trial(found)])
    raise typer.Exit(int(of_trial(found["trial"]["outcome"])))
