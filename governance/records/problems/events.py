"""Audit event kinds of the problem queue. What people wrote stands as a salted hash; no task is named."""

from __future__ import annotations

from typing import ClassVar

from django.utils.translation import gettext_lazy as _

from audit.events import Event
from audit.read_events import Delivered


class ProblemReported(Event):
    kind: ClassVar[str] = "problem.reported"
    subject_type: ClassVar[str] = "problem"
    sentence = _("{actor} reported the problem {subject} of the task-set version {task_set} ({source}).")
    task_set: str
    source: str
    part: str
    evidence: str


class ProblemMoved(Event):
    """`fixed_in` names the version that has it mended."""

    kind: ClassVar[str] = "problem.moved"
    subject_type: ClassVar[str] = "problem"
    sentence = _("{actor} moved the problem {subject} from {before} to {after}.")
    before: str
    after: str
    reason: str
    fixed_in: str | None = None


class ProblemEscalated(Event):
    kind: ClassVar[str] = "problem.escalated"
    subject_type: ClassVar[str] = "problem"
    sentence = _("The problem {subject} stayed {state} beyond its deadline and was escalated.")
    state: str


class ProblemRead(Delivered):
    kind: ClassVar[str] = "problem.read"
    subject_type: ClassVar[str] = "problem"
    sentence = _("{actor} was shown the problem {subject} ({surface}).")
