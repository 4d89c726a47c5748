"""Why something about members is refused: a code that stays, and a sentence that a person can act on."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from django.utils.translation import gettext_lazy as _

from accounts.refusals import AccountsRefused, Words


class Reason(StrEnum):
    NOT_OWNER = "member_not_owner"
    LAST_OWNER = "member_last_owner"
    ALREADY = "member_already"
    TOO_MANY = "invitation_too_many"
    OVER = "invitation_over"
    OTHER_ADDRESS = "invitation_other_address"
    DUTIES = "invitation_excluded"


WORDS: Mapping[Reason, Words] = {
    Reason.NOT_OWNER: Words(
        _("For owners only"),
        _("Only an owner of the organisation does this."),
        _("Ask one of the owners."),
    ),
    Reason.LAST_OWNER: Words(
        _("The last owner stays"),
        _("An organisation always has an owner."),
        _("Make another member an owner first."),
    ),
    Reason.ALREADY: Words(
        _("A member already"),
        _("This person is a member already."),
        _("Change their role instead."),
    ),
    Reason.TOO_MANY: Words(
        _("Too many invitations"),
        _("Your organisation has sent as many invitations as it may within 24 hours."),
        _("Try again later."),
    ),
    Reason.OVER: Words(
        _("Invitation not valid"),
        _("This invitation is not valid, or not any more: it was used, withdrawn, or is older than 7 days."),
        _("Ask whoever sent it for a new one."),
    ),
    Reason.OTHER_ADDRESS: Words(
        _("Invitation for another address"),
        _("This invitation was sent to an address that your account has not confirmed."),
        _("Sign in with the account of that address, or add it to your account and confirm it."),
    ),
    Reason.DUTIES: Words(
        _("Other tasks exclude membership"),
        _("You have other tasks on this platform that exclude being a member. Nobody else is told."),
        _("Ask an administrator to end them first."),
    ),
}


class MemberRefused(AccountsRefused[Reason]):
    words = WORDS
