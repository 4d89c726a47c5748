"""Audit event kinds of corrections."""

from __future__ import annotations

from typing import ClassVar

from django.utils.translation import gettext_lazy as _

from audit.events import Event


class RegradingOrdered(Event):
    """`people`, by pseudonym, are who ordered it and who approved."""

    kind: ClassVar[str] = "regrading.ordered"
    subject_type: ClassVar[str] = "regrading"
    sentence = _("{actor} ordered that the submission {submission} is graded again ({cause}): {subject}.")
    submission: str
    cause: str
    reference: str
    people: list[str]


class RegradingEnded(Event):
    """All runs were graded again; what differs is shown as a correction, of which there is an event of its own."""

    kind: ClassVar[str] = "regrading.ended"
    subject_type: ClassVar[str] = "regrading"
    sentence = _("{actor} graded {runs} runs of the submission {submission} again: {subject}.")
    submission: str
    runs: int
    runs_root: str
    grader: str
    changes_values: str
    """`yes` or `no`: whether any shown value is another one now."""


class ResultCorrected(Event):
    """Corrected values, each number shown; the first ones stay in the event of the release."""

    kind: ClassVar[str] = "result.corrected"
    subject_type: ClassVar[str] = "submission"
    sentence = _("{actor} corrected the result of the submission {subject} ({cause}).")
    regrading: str
    cause: str
    policy: str
    values: dict[str, dict[str, int]]
    runs_root: str
