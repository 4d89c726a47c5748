"""Why a case of linked accounts is not decided."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from django.utils.translation import gettext_lazy as _

from accounts.refusals import AccountsRefused, Words


class Reason(StrEnum):
    MOVED = "link_moved_on"


WORDS: Mapping[Reason, Words] = {
    Reason.MOVED: Words(
        _("Somebody was faster"),
        _("Somebody else has proposed or decided meanwhile."),
        _("Look again."),
    ),
}


class LinkRefused(AccountsRefused[Reason]):
    """Somebody else has proposed or decided meanwhile."""

    words = WORDS
