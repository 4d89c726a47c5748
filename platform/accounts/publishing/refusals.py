"""Why an identity or a credential of a CI job is refused: stable codes, which the problem catalogue explains."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

SHOWN = 200
"""Characters of a received value that are given back."""


class Cause(StrEnum):
    MALFORMED = "oidc_malformed"
    ALGORITHM = "oidc_algorithm"
    UNKNOWN_ISSUER = "oidc_unknown_issuer"
    ISSUER_UNAVAILABLE = "oidc_issuer_unavailable"
    UNKNOWN_KEY = "oidc_unknown_key"
    SIGNATURE = "oidc_signature"
    EXPIRED = "oidc_expired"
    NOT_YET = "oidc_not_yet"
    AUDIENCE = "oidc_audience"
    CLAIM_MISSING = "oidc_claim_missing"
    REPLAYED = "oidc_replayed"
    EVENT = "oidc_event"
    NO_PUBLISHER = "oidc_no_publisher"
    AMBIGUOUS = "oidc_ambiguous"
    MISMATCH = "oidc_mismatch"
    PUBLISHER_REMOVED = "publisher_removed"
    PUBLISHER_SUSPENDED = "publisher_suspended"
    PUBLISHER_ORPHANED = "publisher_orphaned"
    ORGANISATION_SUSPENDED = "organisation_suspended"
    PUBLISHER_INVALID = "publisher_invalid"
    PUBLISHER_EXISTS = "publisher_exists"
    ACT_USED = "act_used"


class IdentityRefused(Exception):
    """Carries claims and names only: never the token, nor a part of it that could be used."""

    def __init__(self, cause: Cause, facts: Mapping[str, object] | None = None) -> None:
        super().__init__(cause.value)
        self.cause = cause
        self.facts = dict(facts or {})


def refused(cause: Cause, *, field: str, received: object) -> IdentityRefused:
    """About one field, with the value that was received in it."""
    return IdentityRefused(cause, {"field": field, "received": str(received)[:SHOWN]})
