"""Audit event kinds of trusted publishers. None carries a token, a claim or a repository's name in plain."""

from __future__ import annotations

from typing import ClassVar

from django.utils.translation import gettext_lazy as _

from audit.events import Event


class PublisherRegistered(Event):
    """`terms` conceals issuer, repository, owner, workflow, ref and environment."""

    kind: ClassVar[str] = "publisher.registered"
    subject_type: ClassVar[str] = "publisher"
    sentence = _("{actor} registered the trusted publisher {subject} for the harness {harness}.")
    organisation: str
    harness: str
    registered_by: str
    terms: str


class PublisherRemoved(Event):
    kind: ClassVar[str] = "publisher.removed"
    subject_type: ClassVar[str] = "publisher"
    sentence = _("{actor} removed the trusted publisher {subject}.")
    ended_by: str
    at: str


class CiExchanged(Event):
    """A job got two credentials: to act until `act_expires`, to watch what it submits until `watch_expires`."""

    kind: ClassVar[str] = "ci.exchanged"
    subject_type: ClassVar[str] = "ci_grant"
    sentence = _("A job of the trusted publisher {publisher} got the credentials {subject}.")
    publisher: str
    harness: str
    act_expires: str
    watch_expires: str


class CiBound(Event):
    """The credential to watch is for this submission from now on, and for no other."""

    kind: ClassVar[str] = "ci.bound"
    subject_type: ClassVar[str] = "ci_grant"
    sentence = _("The credentials {subject} may watch the submission {submission}.")
    submission: str


class IssuerProposed(Event):
    """`keys` is the SHA-256 of the uploaded file; `address` and `reason` are concealed."""

    kind: ClassVar[str] = "issuer.proposed"
    subject_type: ClassVar[str] = "issuer"
    sentence = _("{proposed_by} proposed to believe the keys {keys} of an issuer of {organisation}.")
    organisation: str
    proposed_by: str
    at: str
    address: str
    keys: str
    reason: str


class IssuerApproved(Event):
    kind: ClassVar[str] = "issuer.approved"
    subject_type: ClassVar[str] = "issuer"
    sentence = _("{approved_by} approved the issuer {subject}, until {ends}.")
    approved_by: str
    at: str
    ends: str


class IssuerEnded(Event):
    kind: ClassVar[str] = "issuer.ended"
    subject_type: ClassVar[str] = "issuer"
    sentence = _("{ended_by} ended the issuer {subject}.")
    ended_by: str
    at: str
