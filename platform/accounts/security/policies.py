"""What a session may do by how it was signed in: pure decisions."""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import StrEnum

from accounts.permissions import Permission

FRESH_FOR = timedelta(minutes=15)
"""How long after somebody proved who they are a sensitive page asks for no proof again."""
NEEDS_FACTOR = frozenset(
    {
        Permission.SUBMISSION_SUBMIT,
        Permission.PREFLIGHT_START,
        Permission.TOKEN_WRITE,
        Permission.PUBLISHER_WRITE,
        Permission.UPSTREAM_WRITE,
        Permission.WEBHOOK_WRITE,
    }
)
"""What a session without a second factor may not do over the API."""

NEEDS_PROOF = frozenset(
    {
        Permission.TOKEN_WRITE,
        Permission.PUBLISHER_WRITE,
        Permission.UPSTREAM_WRITE,
        Permission.WEBHOOK_WRITE,
    }
)
"""What a session may do over the API only while its last proof is fresh, as in the pages."""


class Standing(StrEnum):
    """Of a session."""

    STRONG = "strong"
    """Signed in with a second factor, or one was enrolled in it."""
    UNUSED = "unused"
    """The person has a second factor, and this session was signed in without it."""
    NONE = "none"
    """The person has none."""


def standing(*, enrolled: bool, used: bool) -> Standing:
    """`used`: the session holds a proof by a second factor. It counts only as long as the person still has one."""
    if not enrolled:
        return Standing.NONE
    return Standing.STRONG if used else Standing.UNUSED


def is_fresh(proved_at: datetime | None, now: datetime) -> bool:
    return proved_at is not None and now - proved_at < FRESH_FOR
