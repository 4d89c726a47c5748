"""Audit event kinds of task sets."""

from __future__ import annotations

from typing import ClassVar

from django.utils.translation import gettext_lazy as _

from audit.events import Event


class TaskSetImported(Event):
    kind: ClassVar[str] = "task_set.imported"
    subject_type: ClassVar[str] = "task_set"
    sentence = _("{actor} imported the task-set version {label} with {tasks} tasks.")
    label: str
    digest: str
    tasks: int


class TaskSetAdmitted(Event):
    kind: ClassVar[str] = "task_set.admitted"
    subject_type: ClassVar[str] = "task_set"
    sentence = _("{actor} recorded that all {tasks} tasks of the task set {subject} passed admission.")
    digest: str
    tasks: int


class TaskSetFrozen(Event):
    kind: ClassVar[str] = "task_set.frozen"
    subject_type: ClassVar[str] = "task_set"
    sentence = _("{actor} froze the task-set version {label} with {tasks} tasks.")
    label: str
    digest: str
    tasks: int
    assets_root: str
    """The salted root over the digests of each task's parts (benchmark.commitments)."""


class TaskSetOpened(Event):
    kind: ClassVar[str] = "task_set.opened"
    subject_type: ClassVar[str] = "task_set"
    sentence = _("{actor} opened the task-set version {label} for submissions.")
    label: str
