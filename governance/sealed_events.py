"""Audit event kinds of un-blinding: sealed exports, and grading again what an auditor's seed draws."""

from __future__ import annotations

from typing import ClassVar

from django.utils.translation import gettext_lazy as _

from audit.events import Event


class SealedExportMade(Event):
    """Recorded before a byte is written. `reason` is a salted hash (audit.texts); `people` are both pseudonyms."""

    kind: ClassVar[str] = "sealed_export.made"
    subject_type: ClassVar[str] = "submission"
    sentence = _("{actor} and a second person took a sealed export of the submission {subject}: {people}.")
    people: list[str]
    reason: str
    content: str
    """SHA-256 of the file."""
    runs: int


class RegradingCommitted(Event):
    """Somebody fixed a seed, unknown to the operator, before the submission was released."""

    kind: ClassVar[str] = "regrading.committed"
    subject_type: ClassVar[str] = "submission"
    sentence = _("{actor} committed to the seed of a draw from the submission {subject}: {seed_digest}.")
    seed_digest: str
    """SHA-256 of the seed."""


class RegradingDone(Event):
    """`grader` is the digest of the interpreter and grader that graded again."""

    kind: ClassVar[str] = "regrading.done"
    subject_type: ClassVar[str] = "submission"
    sentence = _("{actor} graded {count} runs of the submission {subject} again: {differences} differences.")
    seed_digest: str
    count: int
    differences: int
    grader: str
