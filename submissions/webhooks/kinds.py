"""What can be sent, and how often it is tried."""

from __future__ import annotations

from datetime import timedelta
from enum import StrEnum

from django.utils.translation import gettext_lazy as _


class Kind(StrEnum):
    """The `type` of a message. `test` is sent on demand and needs no subscription."""

    SUBMISSION_STATE = "submission.state"
    PREFLIGHT_STATE = "preflight.state"
    SUBMISSION_RELEASED = "submission.released"
    APPEAL_STATE = "appeal.state"
    TOKEN_EXPIRING = "token.expiring"  # noqa: S105 - a name, no secret
    TEST = "test"


class Fault(StrEnum):
    """Why there was no answer."""

    ADDRESS = "address"
    """The name does not resolve, or not to public addresses only."""
    TIMEOUT = "timeout"
    CONNECTION = "connection"
    """No connection, or one that broke, or a certificate that does not fit."""


FAULTS = {
    Fault.ADDRESS: _("the name leads to no public address"),
    Fault.TIMEOUT: _("no full answer came in time"),
    Fault.CONNECTION: _("no connection could be made"),
}
CHOICES = [
    (Kind.SUBMISSION_STATE.value, _("a submission moves to another state")),
    (Kind.PREFLIGHT_STATE.value, _("a preflight on its own moves to another state")),
    (Kind.SUBMISSION_RELEASED.value, _("a result is released (no values are sent)")),
    (Kind.APPEAL_STATE.value, _("an appeal moves to another state, or is late")),
    (Kind.TOKEN_EXPIRING.value, _("a token of the organisation expires in 14, and in 3 days")),
]
MOST = 5
"""Webhooks that one organisation may have at a time."""
PAUSES = tuple(timedelta(minutes=minutes) for minutes in (1, 5, 30, 120, 480, 1440))
"""Between the attempts of a delivery; after the last it is given up, and can be replayed."""
PATIENCE = timedelta(days=5)
"""An address that accepts nothing for so long is switched off."""
KEPT = timedelta(days=30)
"""How long messages can be looked at and replayed."""
SECONDS = 5.0
"""Longest silence of the other side."""
WHOLE_SECONDS = 10.0
"""Longest time of one attempt."""
WARNINGS = {"14": timedelta(days=14), "3": timedelta(days=3)}
"""How long before its end a token's expiry is told."""
