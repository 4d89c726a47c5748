"""Audit event kinds of registration. No event holds a name, number, address or domain; texts are concealed."""

from __future__ import annotations

from typing import ClassVar

from django.utils.translation import gettext_lazy as _

from audit.events import Event
from audit.read_events import Delivered


class RulesAccepted(Event):
    """`digest` is the SHA-256 of the accepted texts."""

    kind: ClassVar[str] = "organisation.rules_accepted"
    subject_type: ClassVar[str] = "organisation"
    sentence = _("{accepted_by} accepted version {rules} of the participation rules for {subject}.")
    rules: str
    digest: str
    accepted_by: str
    at: str


class PersonKeyMade(Event):
    """What is registered about the person is sealed under a key of their own from now on."""

    kind: ClassVar[str] = "account.key_made"
    subject_type: ClassVar[str] = "account"
    sentence = _("A key of its own was made for the account {subject}.")


class RegistrationFiled(Event):
    kind: ClassVar[str] = "registration.filed"
    subject_type: ClassVar[str] = "registration"
    sentence = _("{filed_by} filed the registration {subject} of {organisation}; staff answer by {due}.")
    organisation: str
    filed_by: str
    evidence: int
    due: str


class DomainConfirmed(Event):
    kind: ClassVar[str] = "registration.domain_confirmed"
    subject_type: ClassVar[str] = "registration"
    sentence = _("Control of the domain in the registration {subject} was confirmed ({method}).")
    method: str
    at: str


class RegistrationProposed(Event):
    kind: ClassVar[str] = "registration.proposed"
    subject_type: ClassVar[str] = "registration"
    sentence = _("{proposed_by} proposed about the registration {subject}: {verdict}.")
    verdict: str
    ground: str
    proposed_by: str
    at: str
    words: str


class RegistrationReturned(Event):
    """The second person did not agree; it is open for another proposal."""

    kind: ClassVar[str] = "registration.returned"
    subject_type: ClassVar[str] = "registration"
    sentence = _("{returned_by} did not confirm what was proposed about the registration {subject}.")
    returned_by: str


class RegistrationDecided(Event):
    kind: ClassVar[str] = "registration.decided"
    subject_type: ClassVar[str] = "registration"
    sentence = _("{decided_by} confirmed what was proposed about the registration {subject}: {verdict}.")
    verdict: str
    decided_by: str
    at: str


class RegistrationForgotten(Event):
    """The key of its data and evidence is destroyed."""

    kind: ClassVar[str] = "registration.forgotten"
    subject_type: ClassVar[str] = "registration"
    sentence = _("The data of the registration {subject} were destroyed.")


class RegistrationRead(Delivered):
    kind: ClassVar[str] = "registration.read"
    subject_type: ClassVar[str] = "registration"
    sentence = _("{actor} was shown the data of the registration {subject} ({surface}).")


class EvidenceRead(Delivered):
    """`precision` is the number of the file."""

    kind: ClassVar[str] = "evidence.read"
    subject_type: ClassVar[str] = "registration"
    sentence = _("{actor} was given file {precision} of the evidence of the registration {subject}.")
