"""Why something about a registration is refused: a code that stays, and a sentence that a person can act on."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from django.utils.translation import gettext_lazy as _

from accounts.refusals import AccountsRefused, Words


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
    MAIL_SHARED = "registration_mail_shared"
    MAIL_TOO_OFTEN = "registration_mail_too_often"
    LINK_INVALID = "registration_link_invalid"
    NO_RECORD = "registration_no_record"
    NOT_FILED = "registration_not_filed"
    NOT_PROPOSED = "registration_not_proposed"
    DOMAIN_OPEN = "registration_domain_open"
    NO_GROUND = "registration_no_ground"


WORDS: Mapping[Reason, Words] = {
    Reason.NOT_OWNER: Words(
        _("For owners only"),
        _("Only owners of the organisation register it."),
        _("Ask one of them."),
    ),
    Reason.RULES_CHANGED: Words(
        _("The rules have changed"),
        _("The participation rules have another version by now."),
        _("Read it and accept again."),
    ),
    Reason.UNDER_WAY: Words(
        _("A registration is under way"),
        _("A registration is being reviewed already."),
        _("Wait for its outcome."),
    ),
    Reason.AUDITS: Words(
        _("Audits the platform"),
        _("An organisation that audits the platform submits nothing, so it is not registered here."),
        _("Take part with another organisation, which has no part in audits."),
    ),
    Reason.SUSPENDED: Words(
        _("Suspended"),
        _("This organisation is suspended; a registration does not lift that."),
        _("Write to the platform's staff."),
    ),
    Reason.EVIDENCE_COUNT: Words(
        _("Number of files"),
        _("A registration has one to five files of evidence."),
        _("Attach one to five files of evidence."),
    ),
    Reason.EVIDENCE_SIZE: Words(
        _("Size of a file"),
        _("A file of evidence has at most 10 MiB, and is not empty."),
        _("Attach a smaller file, or several."),
    ),
    Reason.EVIDENCE_KIND: Words(
        _("Kind of a file"),
        _("Evidence is a PDF, PNG or JPEG file; the content decides, not the name."),
        _("Attach a file of one of these kinds."),
    ),
    Reason.DOMAIN_INVALID: Words(
        _("Not a domain"),
        _("This is no domain that mail and records can be asked for."),
        _("Enter a domain like example.com, without address or path."),
    ),
    Reason.MAIL_ELSEWHERE: Words(
        _("An address elsewhere"),
        _("The address does not lie at the registered domain."),
        _("Enter one that does."),
    ),
    Reason.MAIL_SHARED: Words(
        _("A domain of many"),
        _("At this domain anybody can get an address, so a mail there proves nothing."),
        _("Prove it by the DNS record, or register again with your organisation's own domain."),
    ),
    Reason.MAIL_TOO_OFTEN: Words(
        _("A mail was just sent"),
        _("A mail was just sent."),
        _("Wait a minute before you ask for another."),
    ),
    Reason.LINK_INVALID: Words(
        _("The link is not valid"),
        _("This link is damaged, older than 24 hours, or no longer needed."),
        _("Ask for a new mail."),
    ),
    Reason.NO_RECORD: Words(
        _("No DNS record"),
        _("The DNS record was not found."),
        _("New records can take an hour to be seen; try again then."),
    ),
    Reason.NOT_FILED: Words(
        _("Waits for no proposal"),
        _("This registration does not wait for a proposal."),
        _("Look at its page again; somebody may have acted meanwhile."),
    ),
    Reason.NOT_PROPOSED: Words(
        _("Nothing is proposed"),
        _("Nothing is proposed about this registration."),
        _("Look at its page again; somebody may have acted meanwhile."),
    ),
    Reason.DOMAIN_OPEN: Words(
        _("Domain not confirmed"),
        _("Control of the domain is not confirmed yet, so it cannot be verified."),
        _("Wait until the organisation has confirmed it, or refuse."),
    ),
    Reason.NO_GROUND: Words(
        _("A ground is missing"),
        _("What is refused or asked for has a ground and a text."),
        _("Choose a reason, and say in the text what the organisation can do."),
    ),
}


class RegistrationRefused(AccountsRefused[Reason]):
    words = WORDS
