"""Problems of webhooks."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from submissions.problems.catalogue import Fault
from submissions.problems.codes import Code
from submissions.problems.requests import Row

ROWS: list[Row] = [
    (
        Code.WEBHOOK_ADDRESS,
        422,
        Fault.REQUEST,
        _("Webhook address not allowed"),
        _("Nothing can be sent to this address (%(why)s)."),
        _(
            "Give an https address with a host name, on port 443 or 8443, without user name, password or fragment."
        ),
    ),
    (
        Code.WEBHOOK_LIMIT,
        409,
        Fault.POLICY,
        _("Too many webhooks"),
        _("An organisation has at most %(limit)s webhooks."),
        _("Remove one first."),
    ),
    (
        Code.WEBHOOK_OFF,
        409,
        Fault.REQUEST,
        _("Webhook is off"),
        _("Nothing is sent to a webhook that is switched off."),
        _("Switch it on again on its page, once its address accepts messages."),
    ),
]
