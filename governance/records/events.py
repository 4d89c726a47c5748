"""Audit event kinds of the public records."""

from __future__ import annotations

from typing import ClassVar

from django.utils.translation import gettext_lazy as _

from audit.events import Event


class ChangeLogged(Event):
    """A public line. Its facts are public; further words stand as a salted hash of each language."""

    kind: ClassVar[str] = "change_log.added"
    subject_type: ClassVar[str] = "change_log_line"
    sentence = _("{actor} added the public line {subject} to the change log ({line}).")
    line: str
    task_set: str | None = None
    said: dict[str, str | int]
    text_zh: str | None = None
    text_en: str | None = None


class ChangeLogDated(Event):
    """The line stands in the document of a date of errata from now on."""

    kind: ClassVar[str] = "change_log.dated"
    subject_type: ClassVar[str] = "change_log_line"
    sentence = _("The public line {subject} entered the errata of {label}.")
    release_date: str
    label: str


class LeakIndexMade(Event):
    """Fingerprints of a version's held-out material were made for the leak linter."""

    kind: ClassVar[str] = "leak_index.made"
    subject_type: ClassVar[str] = "task_set"
    sentence = _(
        "{actor} made the fingerprints by which texts about the task-set version {label} are checked."
    )
    label: str
    tasks: int
    sha256: str
    """Of all fingerprints."""
