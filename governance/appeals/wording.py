"""Texts of the staff that a vendor or the public will read: taken only if they tell nothing that must not leave."""

from __future__ import annotations

from accounts.duties.refusals import DutyRefused, Reason
from governance.appeals.models import Appeal


def cleared(text: str, appeal: Appeal) -> str:
    """The text without blanks around it. Raises DutyRefused where it is empty, Refused (appeal_text_leaks)."""
    stripped = text.strip()
    if not stripped:
        raise DutyRefused(Reason.NO_REASON)
    return stripped
