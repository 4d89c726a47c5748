"""Audit event kinds of the log itself. A cosignature is none: each would make a new tree to be cosigned."""

from __future__ import annotations

from typing import ClassVar

from django.utils.translation import gettext_lazy as _

from audit.events import Event


class WitnessRegistered(Event):
    """From now on cosignatures by this key are accepted and shown."""

    kind: ClassVar[str] = "witness.registered"
    subject_type: ClassVar[str] = "witness"
    sentence = _("{actor} registered the witness {name}.")
    name: str
    vkey: str


class EntryWithheld(Event):
    """`subject` is the entry's position. Pages and exports show its leaf hash from now on."""

    kind: ClassVar[str] = "entry.withheld"
    subject_type: ClassVar[str] = "entry"
    sentence = _("{asked_by} and {agreed_by} withheld the entry at position {subject}: {reason}.")
    reason: str
    asked_by: str
    agreed_by: str


class ExportRequested(Event):
    kind: ClassVar[str] = "export.requested"
    subject_type: ClassVar[str] = "export"
    sentence = _("{actor} asked for the export {subject}.")
    disclosed: dict[str, str]


class ExportMade(Event):
    """`manifest` is the SHA-256 of manifest.json, which names every other file by its own."""

    kind: ClassVar[str] = "export.made"
    subject_type: ClassVar[str] = "export"
    sentence = _("The export {subject} of {size} entries was made; {shown} of them are disclosed.")
    manifest: str
    size: int
    shown: int


class ExportFailed(Event):
    kind: ClassVar[str] = "export.failed"
    subject_type: ClassVar[str] = "export"
    sentence = _("The export {subject} could not be made.")


class ExportDelivered(Event):
    """Recorded before the first byte is sent."""

    kind: ClassVar[str] = "export.delivered"
    subject_type: ClassVar[str] = "export"
    sentence = _("{actor} was given the export {subject}.")
    manifest: str
