"""Audit event kinds of linked accounts. Lineages and people stand by their ids; signals by kind and salted hash."""

from __future__ import annotations

from typing import ClassVar

from django.utils.translation import gettext_lazy as _

from audit.events import Event
from audit.read_events import Delivered


class LinkOpened(Event):
    """Nothing is stopped by it; `signals` are kinds, `evidence` conceals the marks."""

    kind: ClassVar[str] = "link.opened"
    subject_type: ClassVar[str] = "link"
    sentence = _("The case {subject} was opened: the lineages {first} and {second} may belong together.")
    first: str
    second: str
    signals: list[str]
    evidence: str


class LinkExtended(Event):
    """Further signals came to a case that is open."""

    kind: ClassVar[str] = "link.extended"
    subject_type: ClassVar[str] = "link"
    sentence = _("Further signals came to the case {subject}.")
    signals: list[str]
    evidence: str


class LinkProposed(Event):
    kind: ClassVar[str] = "link.proposed"
    subject_type: ClassVar[str] = "link"
    sentence = _("{proposed_by} proposed about the case {subject}: {verdict}.")
    verdict: str
    proposed_by: str
    at: str
    reason: str


class LinkReturned(Event):
    kind: ClassVar[str] = "link.returned"
    subject_type: ClassVar[str] = "link"
    sentence = _("{returned_by} did not confirm what was proposed about the case {subject}.")
    returned_by: str


class LinkDecided(Event):
    """Where they are linked, the organisations of `absorbed` draw on the allowance of `into` from now on."""

    kind: ClassVar[str] = "link.decided"
    subject_type: ClassVar[str] = "link"
    sentence = _("{decided_by} confirmed what was proposed about the case {subject}: {verdict}.")
    verdict: str
    decided_by: str
    at: str
    absorbed: str | None = None
    into: str | None = None


class LinkPartingProposed(Event):
    """A link that was confirmed is said to be false."""

    kind: ClassVar[str] = "link.parting_proposed"
    subject_type: ClassVar[str] = "link"
    sentence = _("{proposed_by} proposed to undo the link of the case {subject}.")
    proposed_by: str
    at: str
    reason: str


class LinkPartingReturned(Event):
    kind: ClassVar[str] = "link.parting_returned"
    subject_type: ClassVar[str] = "link"
    sentence = _("{returned_by} did not confirm that the link of the case {subject} be undone.")
    returned_by: str


class LinkParted(Event):
    """The organisations that had moved have an allowance of their own again; what each used stays counted for it."""

    kind: ClassVar[str] = "link.parted"
    subject_type: ClassVar[str] = "link"
    sentence = _("{decided_by} confirmed that the link of the case {subject} is undone.")
    decided_by: str
    at: str


class LineageChanged(Event):
    kind: ClassVar[str] = "organisation.lineage_changed"
    subject_type: ClassVar[str] = "organisation"
    sentence = _(
        "The organisation {subject} belongs to the lineage {lineage} since the case {case} was decided."
    )
    before: str
    lineage: str
    case: str


class LinkRead(Delivered):
    kind: ClassVar[str] = "link.read"
    subject_type: ClassVar[str] = "link"
    sentence = _("{actor} was shown the case {subject} ({surface}).")
