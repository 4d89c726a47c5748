"""Audit event kinds of retention."""

from __future__ import annotations

from typing import ClassVar

from django.utils.translation import gettext_lazy as _

from audit.events import Event


class ArtefactsPurged(Event):
    """`digest` is the SHA-256 over the sorted digests of what went, one a line; nothing in it names a task."""

    kind: ClassVar[str] = "artefacts.purged"
    subject_type: ClassVar[str] = "artefact_purge"
    sentence = _("{actor} deleted {count} stored artefacts of the class {retention}, {size} bytes.")
    retention: str
    count: int
    size: int
    digest: str
