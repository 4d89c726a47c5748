"""Audit event kinds of task sets."""

from __future__ import annotations

from typing import ClassVar

from audit.events import Event


class TaskSetImported(Event):
    kind: ClassVar[str] = "task_set.imported"
    subject_type: ClassVar[str] = "task_set"
    label: str
    digest: str
    tasks: int


class TaskSetAdmitted(Event):
    kind: ClassVar[str] = "task_set.admitted"
    subject_type: ClassVar[str] = "task_set"
    digest: str
    tasks: int


class TaskSetFrozen(Event):
    kind: ClassVar[str] = "task_set.frozen"
    subject_type: ClassVar[str] = "task_set"
    label: str
    digest: str
    tasks: int
    assets_root: str
    """The salted root over the digests of each task's parts (benchmark.commitments)."""


class TaskSetOpened(Event):
    kind: ClassVar[str] = "task_set.opened"
    subject_type: ClassVar[str] = "task_set"
    label: str
