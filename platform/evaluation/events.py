"""Audit event kinds of evaluation. An episode's claims and lease renewals have none; each ended attempt has one."""

from __future__ import annotations

from typing import ClassVar

from audit.events import Event


class RunCreated(Event):
    kind: ClassVar[str] = "run.created"
    subject_type: ClassVar[str] = "run"
    run_kind: str
    task_set: str
    package: str
    runs_per_task: int
    episodes: int


class RunCancelled(Event):
    kind: ClassVar[str] = "run.cancelled"
    subject_type: ClassVar[str] = "run"


class RunExecuted(Event):
    kind: ClassVar[str] = "run.executed"
    subject_type: ClassVar[str] = "run"


class RunEnded(Event):
    kind: ClassVar[str] = "run.ended"
    subject_type: ClassVar[str] = "run"
    missing: int


class RunReopened(Event):
    kind: ClassVar[str] = "run.reopened"
    subject_type: ClassVar[str] = "run"
    episodes: int


class AttemptEnded(Event):
    """`subject` is the attempt's opaque id; nothing in it names the task."""

    kind: ClassVar[str] = "attempt.ended"
    subject_type: ClassVar[str] = "attempt"
    run: str
    number: int
    ending: str
    artefact: str = ""
