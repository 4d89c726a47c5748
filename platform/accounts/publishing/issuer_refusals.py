"""Why the keys of an issuer behind a firewall are not believed."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from django.utils.translation import gettext_lazy as _

from accounts.refusals import AccountsRefused, Words


class Reason(StrEnum):
    ADDRESS = "issuer_address"
    PUBLISHED = "issuer_published"
    DAYS = "issuer_days"
    OVER = "issuer_over"
    TAKEN = "issuer_taken"
    KEYS = "issuer_keys"


WORDS: Mapping[Reason, Words] = {
    Reason.ADDRESS: Words(
        _("Not an issuer"),
        _("This is no https address of an issuer, or no form of claims that is known."),
        _("Give the address that stands in its tokens, and one of the known forms."),
    ),
    Reason.PUBLISHED: Words(
        _("Believed already"),
        _("This issuer is believed already, with the keys that it publishes."),
        _("Nothing is left to do."),
    ),
    Reason.DAYS: Words(
        _("Days of an issuer"),
        _("A reviewed issuer is believed for 1 to 90 days."),
        _("Give another number."),
    ),
    Reason.OVER: Words(
        _("Decided already"),
        _("This issuer was approved or ended before."),
        _("Propose it anew."),
    ),
    Reason.TAKEN: Words(
        _("An issuer of others"),
        _("Another organisation's issuer has this address."),
        _("Ask them to end theirs, or give another address."),
    ),
    Reason.KEYS: Words(
        _("No usable keys"),
        _("The file is no usable JWK set with an RSA key for RS256."),
        _("Export the issuer's public keys as a JWK set."),
    ),
}


class IssuerRefused(AccountsRefused[Reason]):
    words = WORDS
