"""Why something about members is refused: a code that stays, and a sentence that a person can act on."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from django.utils.translation import gettext_lazy as _


class Reason(StrEnum):
    NOT_OWNER = "member_not_owner"
    LAST_OWNER = "member_last_owner"
    ALREADY = "member_already"
    TOO_MANY = "invitation_too_many"
    OVER = "invitation_over"
    OTHER_ADDRESS = "invitation_other_address"
    DUTIES = "invitation_excluded"


SENTENCES: Mapping[Reason, Any] = {
    Reason.NOT_OWNER: _("Only an owner of the organisation does this. Ask one of them."),
    Reason.LAST_OWNER: _("An organisation always has an owner. Make another member an owner first."),
    Reason.ALREADY: _("This person is a member already. Change their role instead."),
    Reason.TOO_MANY: _(
        "Your organisation has sent as many invitations as it may within 24 hours. Try again later."
    ),
    Reason.OVER: _(
        "This invitation is not valid, or not any more: it was used, withdrawn, or is older than 7 days. Ask "
        "whoever sent it for a new one."
    ),
    Reason.OTHER_ADDRESS: _(
        "This invitation was sent to an address that your account has not confirmed. Sign in with the account "
        "of that address, or add it to your account and confirm it."
    ),
    Reason.DUTIES: _(
        "You have other tasks on this platform that exclude being a member. Nobody else is told. Ask an "
        "administrator to end them first."
    ),
}


class MemberRefused(ValueError):
    """It is not done; `reason` is the code, `sentence` says what to do."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason.value)
        self.reason = reason

    @property
    def sentence(self) -> str:
        return str(SENTENCES[self.reason])

    def __str__(self) -> str:
        return f"{self.sentence} [{self.reason.value}]"
