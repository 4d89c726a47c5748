"""Why a case of linked accounts is not decided."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from django.utils.translation import gettext_lazy as _

from accounts.refusals import AccountsRefused, Words


class Reason(StrEnum):
    MOVED = "link_moved_on"
    BUILT_ON = "link_built_on"


WORDS: Mapping[Reason, Words] = {
    Reason.MOVED: Words(
        _("Somebody was faster"),
        _("Somebody else has proposed or decided meanwhile."),
        _("Look again."),
    ),
    Reason.BUILT_ON: Words(
        _("A later link builds on this one"),
        _("Organisations that this link moved were linked further since."),
        _("Undo the later link first."),
    ),
}


class LinkRefused(AccountsRefused[Reason]):
    """Somebody was faster, or a later link stands against it."""

    words = WORDS
