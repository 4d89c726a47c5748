"""Who calls: a token, or within CI a signed identity of the job that is exchanged for two short-lived credentials.

The job's identity (a JWT) is good for one exchange, and is neither kept nor printed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httpx

from client.exits import Exit
from client.project import Project
from client.remote.http import NETWORK, TIMEOUT, Site, pause
from client.trouble import Trouble
from client.words import say

WATCH = "watch.json"
GITHUB_URL = "ACTIONS_ID_TOKEN_REQUEST_URL"
GITHUB_TOKEN = "ACTIONS_ID_TOKEN_REQUEST_TOKEN"  # noqa: S105 - the name of a variable
GITLAB_TOKEN = "LGBENCH_ID_TOKEN"  # noqa: S105 - the name of a variable
MINTED = 3


@dataclass(frozen=True)
class Credentials:
    """`act` may register, upload and submit; `watch` may look after the one submission that comes of it."""

    act: str
    watch: str = ""
    watch_until: str = ""
    harness: str = ""
    """Id of the one harness that a CI job may act for."""

    def keep_watch(self, project: Project, site: str, submission_id: str) -> None:
        """For later commands, in a file for the owner's eyes only."""
        if self.watch:
            found = {
                "site": site,
                "submission": submission_id,
                "token": self.watch,
                "expires_at": self.watch_until,
            }
            project.keep(WATCH, found)


def within_ci(environment: Mapping[str, str]) -> bool:
    """Whether this is a CI job that can prove its identity."""
    return bool(
        environment.get(GITLAB_TOKEN) or (environment.get(GITHUB_URL) and environment.get(GITHUB_TOKEN))
    )


def exchange(
    address: str,
    harness: str,
    environment: Mapping[str, str],
) -> Credentials:
    """Act and watch credentials for one harness, by its id or name. An answer that was lost is asked for with a new
    identity. Raises Trouble."""
    site = Site(address)
    for attempt in range(MINTED):
        identity = _identity(address, environment)
        try:
            body = site.post("oidc/exchange", {"token": identity, "harness": harness})
        except Trouble as trouble:
            if trouble.code != "network_lost" or attempt == MINTED - 1 or environment.get(GITLAB_TOKEN):
                raise
            site.wait(pause(attempt))
            continue
        return _credentials(body)
    raise AssertionError("unreachable")


def require_harness(credentials: Credentials, wanted: str) -> None:
    """The site has to have understood the id as one. Raises Trouble."""
    if wanted and credentials.harness != wanted.lower():
        raise other_harness(wanted, credentials.harness)


def other_harness(wanted: str, found: str) -> Trouble:
    """`harness_id` of the settings and what there is do not go together."""
    return Trouble(
        "other_harness",
        say("lgbench.toml names the harness {wanted}, but this would be {found}. Nothing was sent.").format(
            wanted=wanted, found=found or "–"
        ),
        hint=say("Compare `harness_id` in lgbench.toml and `name` in harness.toml with the harness's page."),
        exit=Exit.USAGE,
    )


def _credentials(body: Mapping[str, Any]) -> Credentials:
    act, watch = body["act"], body.get("watch") or {}
    return Credentials(
        act["token"],
        str(watch.get("token") or ""),
        str(watch.get("expires_at") or ""),
        str(act.get("harness") or ""),
    )


def _identity(address: str, environment: Mapping[str, str]) -> str:
    """The signed identity of this job, for this site."""
    if environment.get(GITLAB_TOKEN):
        return environment[GITLAB_TOKEN]
    audience = environment.get("LGBENCH_AUDIENCE") or address
    try:
        answer = httpx.get(
            httpx.URL(environment[GITHUB_URL]).copy_merge_params({"audience": audience}),
            headers={"Authorization": f"Bearer {environment[GITHUB_TOKEN]}"},
            timeout=TIMEOUT,
        )
        found = answer.json().get("value") if answer.is_success else None
    except (*NETWORK, ValueError, AttributeError):
        found = None
    if not isinstance(found, str) or not found:
        raise Trouble(
            "no_identity",
            say("This CI job got no identity from its runner."),
            hint=say("The job needs `permissions: id-token: write`, and must not come from a fork."),
            exit=Exit.REFUSED,
        )
    return found


def watch_token(project: Project, site: str, submission_id: str) -> str:
    """The kept credential that may look after this submission; empty where there is none."""
    kept = project.kept(WATCH) or {}
    same = kept.get("site") == site and submission_id in ("", kept.get("submission"))
    return str(kept.get("token") or "") if same else ""
