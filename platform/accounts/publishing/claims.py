"""What a token says, in one form for all issuers. No database, no network."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from accounts.publishing.refusals import Cause, IdentityRefused, refused

LONGEST_LIFE = timedelta(hours=24)
"""Between `iat` and `exp`; the tokens of both services live minutes, GitLab's at most as long as the job."""
LEEWAY = timedelta(seconds=30)
"""How far clocks may differ."""
LONGEST_CLAIM = 1024

CLAIMS: Mapping[str, Mapping[str, str]] = {
    "github": {
        "repository": "repository",
        "owner_id": "repository_owner_id",
        "workflow": "job_workflow_ref",
        "ref": "ref",
        "event": "event_name",
        "environment": "environment",
    },
    "gitlab": {
        "repository": "project_path",
        "owner_id": "namespace_id",
        "workflow": "ci_config_ref_uri",
        "ref": "ref_path",
        "event": "pipeline_source",
        "environment": "environment",
    },
}
"""By dialect: our name of a field, and the claim that holds it."""
OPTIONAL = frozenset({"environment"})
REFUSED_EVENTS: Mapping[str, frozenset[str]] = {
    "github": frozenset({"pull_request_target"}),
    "gitlab": frozenset({"merge_request_event", "external_pull_request_event"}),
}
"""Jobs that may run somebody else's code with the repository's own identity.

On GitLab a merge request's pipeline runs in the project also where the branch is a fork's, and no claim tells which;
so none of them is taken. A branch's own pipeline is.
"""
BRANCHES_AND_TAGS = ("refs/heads/", "refs/tags/")


@dataclass(frozen=True)
class Identity:
    """Who a job is, by a token that was verified. `workflow` is the file's path, `workflow_ref` where it was taken."""

    issuer: str
    dialect: str
    jti: str
    expires_at: datetime
    repository: str
    owner_id: str
    workflow: str
    workflow_ref: str
    ref: str
    environment: str
    received: Mapping[str, str]
    """By our name of the field: the claim as it was received."""


def read(claims: Mapping[str, Any], *, issuer: str, dialect: str) -> Identity:
    """The identity in the claims of a token whose signature, audience and times were verified.

    Raises IdentityRefused: oidc_claim_missing, oidc_event.
    """
    names = CLAIMS[dialect]
    found = {field: text(claims, name, needed=field not in OPTIONAL) for field, name in names.items()}
    jti = text(claims, "jti")
    if len(jti) > 255:
        raise refused(Cause.CLAIM_MISSING, field="jti", received=jti)
    if found["event"] in REFUSED_EVENTS[dialect]:
        raise refused(Cause.EVENT, field=names["event"], received=found["event"])
    if dialect == "gitlab" and not found["ref"].startswith(BRANCHES_AND_TAGS):
        # A child of a merge request's pipeline has another source, but stands on the request's ref.
        raise refused(Cause.EVENT, field=names["ref"], received=found["ref"])
    path, ref = workflow_of(found["workflow"], found["repository"], issuer=issuer, dialect=dialect)
    return Identity(
        issuer=issuer,
        dialect=dialect,
        jti=jti,
        expires_at=instant(claims, "exp"),
        repository=found["repository"].casefold(),
        owner_id=found["owner_id"],
        workflow=path,
        workflow_ref=ref,
        ref=found["ref"],
        environment=found["environment"],
        received=found,
    )


def workflow_of(value: str, repository: str, *, issuer: str, dialect: str) -> tuple[str, str]:
    """Path and ref of the workflow file; two empty texts where it is a file of another repository."""
    before = f"{repository}/" if dialect == "github" else f"{urlsplit(issuer).netloc}/{repository}//"
    if not value.casefold().startswith(before.casefold()):
        return "", ""
    path, _, ref = value[len(before) :].partition("@")
    return path, ref


def require_times(claims: Mapping[str, Any], *, now: datetime) -> None:
    """Raises IdentityRefused: oidc_expired, oidc_not_yet, oidc_claim_missing."""
    issued, expires = instant(claims, "iat"), instant(claims, "exp")
    if not timedelta(0) < expires - issued <= LONGEST_LIFE:
        raise refused(Cause.CLAIM_MISSING, field="exp", received=claims["exp"])
    if expires + LEEWAY <= now:
        raise refused(Cause.EXPIRED, field="exp", received=expires.isoformat())
    for name in ("nbf", "iat"):
        begins = instant(claims, name) if name in claims else issued
        if begins - LEEWAY > now:
            raise refused(Cause.NOT_YET, field=name, received=begins.isoformat())


def text(claims: Mapping[str, Any], name: str, *, needed: bool = True) -> str:
    """A claim that is a text; raises IdentityRefused (oidc_claim_missing) where it is needed and is none."""
    value = claims.get(name)
    if value is None and not needed:
        return ""
    if (
        not isinstance(value, str)
        or not (value or not needed)
        or len(value) > LONGEST_CLAIM
        or "\x00" in value
    ):
        raise IdentityRefused(
            Cause.CLAIM_MISSING, {"field": name, "received": "" if value is None else str(value)[:80]}
        )
    return value


def instant(claims: Mapping[str, Any], name: str) -> datetime:
    value = claims.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 2**33:
        raise IdentityRefused(
            Cause.CLAIM_MISSING, {"field": name, "received": "" if value is None else str(value)[:80]}
        )
    return datetime.fromtimestamp(value, UTC)
