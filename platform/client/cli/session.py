"""What a command runs in: project, site, credential, output. Options come before environment, then lgbench.toml."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from client.cli.output import Output
from client.exits import Exit
from client.project import Project, load
from client.remote.http import Site
from client.remote.identity import Credentials, exchange, require_harness, watch_token, within_ci
from client.remote.submitting import NOTE
from client.trouble import Trouble
from client.words import say

_spoken: dict[str, Output] = {"output": Output()}


@dataclass(frozen=True)
class Session:
    project: Project
    address: str
    token: str
    output: Output
    environment: Mapping[str, str]

    def site(self) -> Site:
        """The site, without a credential."""
        return Site(self.required_address())

    def member(self, submission_id: str = "") -> Site:
        """The site with the token, or with the kept credential of a CI job for its submission. Raises Trouble."""
        address = self.required_address()
        token = self.token or watch_token(self.project, address, submission_id)
        if not token:
            raise no_credential()
        return Site(address, token)

    def acting(self, harness: str) -> tuple[Site, Credentials]:
        """The site with a credential that may submit: the token, or what the CI job's identity is exchanged for."""
        address = self.required_address()
        if self.token:
            return Site(address, self.token), Credentials(self.token)
        if not within_ci(self.environment):
            raise no_credential()
        known = self.project.harness_id
        found = exchange(address, known or harness, self.environment)
        require_harness(found, known)
        return Site(address, found.act), found

    def required_address(self) -> str:
        parts = urlsplit(self.address)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise Trouble(
                "no_site",
                say("The site is not known.")
                if not self.address
                else say("The address of the site is not one."),
                hint=say("Set `site` in lgbench.toml, LGBENCH_SITE, or --site, as https://bench.example"),
                exit=Exit.USAGE,
            )
        return self.address.rstrip("/")

    def submission(self, given: str | None) -> str:
        """The named submission, or the one that this folder made last. Raises Trouble."""
        kept = self.project.kept(NOTE) or {}
        found = given or str(kept.get("id") or "")
        if not found:
            raise Trouble(
                "no_submission",
                say("Which submission is not known: none was made from this folder."),
                hint=say("Name its id, or run `lgbench submit` here first."),
                exit=Exit.USAGE,
            )
        return found


def no_credential() -> Trouble:
    return Trouble(
        "no_token",
        say("There is no token."),
        hint=say(
            "Make one on the site under Tokens, and set LGBENCH_TOKEN. In CI: register a trusted publisher."
        ),
        exit=Exit.REFUSED,
    )


def open_session(site: str | None, token: str | None, directory: Path | None, *, as_json: bool) -> Session:
    """The session of a command; from now on failures are told as it asks."""
    output = Output(as_json=as_json)
    _spoken["output"] = output
    environment = os.environ
    project = load(directory or Path.cwd())
    address = site or environment.get("LGBENCH_SITE") or project.site
    return Session(
        project, address, _presentable(token or environment.get("LGBENCH_TOKEN", "")), output, environment
    )


def _presentable(token: str) -> str:
    """Without the blanks and line ends that copying leaves. Raises Trouble for what no token can be."""
    found = token.strip()
    if found and not (found.isascii() and found.isprintable() and " " not in found):
        raise Trouble(
            "token_malformed",
            say("LGBENCH_TOKEN or --token holds something that is no token."),
            hint=say("Copy the whole token, from lgb_ to its end, and nothing else."),
            exit=Exit.REFUSED,
        )
    return found


def spoken() -> Output:
    """How the command at hand speaks."""
    return _spoken["output"]
