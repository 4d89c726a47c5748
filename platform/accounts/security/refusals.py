"""Why somebody is not erased."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from django.utils.translation import gettext_lazy as _

from accounts.refusals import AccountsRefused, Words


class Reason(StrEnum):
    SOLE_OWNER = "erasure_sole_owner"


WORDS: Mapping[Reason, Words] = {
    Reason.SOLE_OWNER: Words(
        _("The only owner"),
        _("You are the only owner of an organisation with submissions under way."),
        _("Make somebody else an owner, or wait until they have ended."),
    ),
}


class ErasureRefused(AccountsRefused[Reason]):
    words = WORDS
