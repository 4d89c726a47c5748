"""Who may do what with members: pure decisions."""

from __future__ import annotations

from datetime import timedelta

from accounts.members.refusals import Reason

VALID_FOR = timedelta(days=7)
"""How long an invitation can be accepted."""
INVITATIONS_A_DAY = 30
"""How many one organisation may send within 24 hours: its mails go to people who did not ask for them."""
OWNER = "owner"


def may_manage(acting: str | None) -> Reason | None:
    """Inviting, withdrawing, giving roles, removing others. `acting` is the role of whoever acts."""
    return None if acting == OWNER else Reason.NOT_OWNER


def may_lose_owner(role: str, other_owners: int) -> Reason | None:
    """Whether somebody of that role may leave it, or the organisation."""
    return Reason.LAST_OWNER if role == OWNER and not other_owners else None
