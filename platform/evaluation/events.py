"""Audit event kinds of evaluation. An episode's claims and lease renewals have none; each ended attempt has one."""

from __future__ import annotations

from typing import ClassVar

from django.utils.translation import gettext_lazy as _

from audit.events import Event


class RunCreated(Event):
    kind: ClassVar[str] = "run.created"
    subject_type: ClassVar[str] = "run"
    sentence = _("{actor} created the run {subject} ({run_kind}) on {task_set} with {episodes} episodes.")
    run_kind: str
    task_set: str
    package: str
    runs_per_task: int
    episodes: int


class RunCancelled(Event):
    kind: ClassVar[str] = "run.cancelled"
    subject_type: ClassVar[str] = "run"
    sentence = _("{actor} cancelled the run {subject}.")


class RunExecuted(Event):
    kind: ClassVar[str] = "run.executed"
    subject_type: ClassVar[str] = "run"
    sentence = _("All episodes of the run {subject} were executed.")


class RunEnded(Event):
    kind: ClassVar[str] = "run.ended"
    subject_type: ClassVar[str] = "run"
    sentence = _("The run {subject} ended; {missing} episodes have no valid result.")
    missing: int


class RunReopened(Event):
    kind: ClassVar[str] = "run.reopened"
    subject_type: ClassVar[str] = "run"
    sentence = _("{actor} reopened the run {subject} to repeat {episodes} episodes.")
    episodes: int


class AttemptEnded(Event):
    """`subject` is the attempt's opaque id; nothing in it names the task."""

    kind: ClassVar[str] = "attempt.ended"
    subject_type: ClassVar[str] = "attempt"
    sentence = _("Attempt {number} of an episode of the run {run} ended: {ending}.")
    run: str
    number: int
    ending: str
    artefact: str = ""
