"""What a vendor may register, and whether a job is the one that was registered. No database."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from accounts.publishing.claims import CLAIMS, Identity
from accounts.publishing.refusals import Cause, IdentityRefused, refused

REPOSITORY: Mapping[str, re.Pattern[str]] = {
    "github": re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_-]{0,38})/[A-Za-z0-9._-]{1,100}\Z"),
    "gitlab": re.compile(r"[A-Za-z0-9_][\w.-]*(?:/[A-Za-z0-9_][\w.-]*)+\Z", re.ASCII),
}
WORKFLOW: Mapping[str, re.Pattern[str]] = {
    "github": re.compile(r"\.github/workflows/[A-Za-z0-9._ -]{1,200}\.ya?ml\Z"),
    "gitlab": re.compile(r"(?!.*//)[A-Za-z0-9._-][A-Za-z0-9._/ -]{0,200}\.ya?ml\Z"),
}
OWNER_ID = re.compile(r"[1-9][0-9]{0,19}\Z")
REF = re.compile(r"refs/(?:heads|tags)/[^\s\x00-\x1f~^:?*\[\\]{1,200}\Z")
ENVIRONMENT = re.compile(r"[^\x00-\x1f]{0,255}\Z")
FIELDS = ("repository", "owner_id", "workflow", "ref", "environment")
"""In the order in which they are compared."""


@dataclass(frozen=True)
class Terms:
    """Which job is meant. An empty `ref` or `environment` is any."""

    issuer: str
    dialect: str
    repository: str
    owner_id: str
    workflow: str
    ref: str = ""
    environment: str = ""


@dataclass(frozen=True)
class Comparison:
    """One field: the claim it stands in, what was registered, and what was received."""

    field: str
    claim: str
    expected: str
    received: str
    matches: bool


Row = TypeVar("Row")


def registrable(terms: Terms) -> Terms:
    """The terms as they are kept. Raises IdentityRefused (publisher_invalid) with the first field that cannot be."""
    ref = terms.ref.strip()
    found = replace(
        terms,
        repository=terms.repository.strip().casefold(),
        owner_id=terms.owner_id.strip(),
        workflow=_workflow(terms.workflow.strip().removeprefix("/"), terms.dialect),
        ref=f"refs/heads/{ref}" if ref and not ref.startswith("refs/") else ref,
        environment=terms.environment.strip(),
    )
    rules = {
        "repository": REPOSITORY[terms.dialect],
        "owner_id": OWNER_ID,
        "workflow": WORKFLOW[terms.dialect],
        "ref": REF if found.ref else None,
        "environment": ENVIRONMENT,
    }
    for field, rule in rules.items():
        value = str(getattr(found, field))
        if rule is not None and (len(value) > 255 or not rule.match(value)):
            raise refused(Cause.PUBLISHER_INVALID, field=field, received=value)
    return found


def _workflow(path: str, dialect: str) -> str:
    return f".github/workflows/{path}" if dialect == "github" and path and "/" not in path else path


def compare(terms: Terms, identity: Identity) -> list[Comparison]:
    """Field by field, in the order in which a refusal names the first that differs."""
    same = {
        "repository": terms.repository == identity.repository,
        "owner_id": terms.owner_id == identity.owner_id,
        "workflow": terms.workflow == identity.workflow and terms.ref in ("", identity.workflow_ref),
        "ref": terms.ref in ("", identity.ref),
        "environment": terms.environment.casefold() in ("", identity.environment.casefold()),
    }
    return [
        Comparison(
            field, CLAIMS[terms.dialect][field], getattr(terms, field), identity.received[field], same[field]
        )
        for field in FIELDS
    ]


def first_mismatch(terms: Terms, identity: Identity) -> Comparison | None:
    return next((row for row in compare(terms, identity) if not row.matches), None)


def nearest(rows: Sequence[tuple[Terms, Row]], identity: Identity) -> tuple[Terms, Row]:
    """The one with which the job agrees for the longest, the first of equals."""
    return max(rows, key=lambda row: _agreement(row[0], identity))


def _agreement(terms: Terms, identity: Identity) -> int:
    differs = first_mismatch(terms, identity)
    return len(FIELDS) if differs is None else FIELDS.index(differs.field)


def mismatch(terms: Terms, identity: Identity) -> IdentityRefused | None:
    """The refusal that names the first field that differs, and what was received in it."""
    differs = first_mismatch(terms, identity)
    if differs is None:
        return None
    return refused(Cause.MISMATCH, field=differs.claim, received=differs.received or "–")
