"""Why something about a registration is refused: a code that stays, and a sentence that a person can act on."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from django.utils.translation import gettext_lazy as _


class Reason(StrEnum):
    NOT_OWNER = "registration_not_owner"
    RULES_CHANGED = "registration_rules_changed"
    UNDER_WAY = "registration_under_way"
    AUDITS = "registration_audits"
    SUSPENDED = "registration_suspended"
    EVIDENCE_COUNT = "registration_evidence_count"
    EVIDENCE_SIZE = "registration_evidence_size"
    EVIDENCE_KIND = "registration_evidence_kind"
    DOMAIN_INVALID = "registration_domain_invalid"
    MAIL_ELSEWHERE = "registration_mail_elsewhere"
    MAIL_TOO_OFTEN = "registration_mail_too_often"
    LINK_INVALID = "registration_link_invalid"
    NO_RECORD = "registration_no_record"
    NOT_FILED = "registration_not_filed"
    NOT_PROPOSED = "registration_not_proposed"
    DOMAIN_OPEN = "registration_domain_open"
    NO_GROUND = "registration_no_ground"


SENTENCES: Mapping[Reason, Any] = {
    Reason.NOT_OWNER: _("Only owners of the organisation do this. Ask one of them."),
    Reason.RULES_CHANGED: _("The participation rules have another version by now. Read it and accept again."),
    Reason.UNDER_WAY: _("A registration is being reviewed already. Wait for its outcome."),
    Reason.AUDITS: _(
        "An organisation that audits the platform submits nothing, so it is not registered here."
    ),
    Reason.SUSPENDED: _("This organisation is suspended; a registration does not lift that."),
    Reason.EVIDENCE_COUNT: _("Attach one to five files of evidence."),
    Reason.EVIDENCE_SIZE: _("A file of evidence has at most 10 MiB, and is not empty."),
    Reason.EVIDENCE_KIND: _("Evidence is a PDF, PNG or JPEG file; the content decides, not the name."),
    Reason.DOMAIN_INVALID: _("Enter a domain like example.com, without address or path."),
    Reason.MAIL_ELSEWHERE: _("The address does not lie at the registered domain."),
    Reason.MAIL_TOO_OFTEN: _("A mail was just sent. Wait a minute before you ask for another."),
    Reason.LINK_INVALID: _(
        "This link is damaged, older than 24 hours, or no longer needed. Ask for a new mail."
    ),
    Reason.NO_RECORD: _(
        "The DNS record was not found. New records can take an hour to be seen; try again then."
    ),
    Reason.NOT_FILED: _("This registration does not wait for a proposal."),
    Reason.NOT_PROPOSED: _("Nothing is proposed about this registration."),
    Reason.DOMAIN_OPEN: _("Control of the domain is not confirmed yet, so it cannot be verified."),
    Reason.NO_GROUND: _("Choose a reason, and say in the text what the organisation can do."),
}


class RegistrationRefused(ValueError):
    """It is not done; `reason` is the code, `sentence` says what to do."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason.value)
        self.reason = reason

    @property
    def sentence(self) -> str:
        return str(SENTENCES[self.reason])

    def __str__(self) -> str:
        return f"{self.sentence} [{self.reason.value}]"
