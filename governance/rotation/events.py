"""Audit event kinds of rotation. They name entries and plans, never a task."""

from __future__ import annotations

from typing import ClassVar

from django.utils.translation import gettext_lazy as _

from audit.events import Event


class Profiled(Event):
    """`digest` is over every score; `baselines` are digests of the harnesses by name."""

    kind: ClassVar[str] = "rotation.profiled"
    subject_type: ClassVar[str] = "profiling"
    sentence = _("{actor} profiled {tasks} tasks of {task_set} by fixed harnesses.")
    task_set: str
    bank_digest: str
    baselines: dict[str, str]
    runs: int
    path: str
    tasks: int
    digest: str


class EntryOpened(Event):
    """`task` is a salted hash of the task's id."""

    kind: ClassVar[str] = "rotation.queued"
    subject_type: ClassVar[str] = "rotation_entry"
    sentence = _("{actor} put a task of {task_set} into the rotation queue.")
    task_set: str
    task: str
    cause: str
    reason: str | None = None


class EntryMoved(Event):
    """A step of an entry by one person, or by the clock."""

    kind: ClassVar[str] = "rotation.moved"
    subject_type: ClassVar[str] = "rotation_entry"
    sentence = _("{actor} moved the entry {subject} of the rotation queue from {before} to {after}.")
    before: str
    after: str
    verdict: str | None = None
    ground: str | None = None
    reason: str | None = None
    proposed_by: str | None = None
    decided_by: str | None = None


class EntryEscalated(Event):
    kind: ClassVar[str] = "rotation.escalated"
    subject_type: ClassVar[str] = "rotation_entry"
    sentence = _("{actor} noted that the entry {subject} of the rotation queue is overdue.")
    owner: str


class PlanOpened(Event):
    """The seed of everything that is drawn, committed before anything is."""

    kind: ClassVar[str] = "rotation_plan.opened"
    subject_type: ClassVar[str] = "rotation_plan"
    sentence = _("{actor} opened a plan for the step from {former} to {label} and committed its seed.")
    former: str
    label: str
    seed_digest: str


class PlanDrawn(Event):
    """`leaving` counts by domain; `lines` is the digest of what leaves and what comes."""

    kind: ClassVar[str] = "rotation_plan.drawn"
    subject_type: ClassVar[str] = "rotation_plan"
    sentence = _("{actor} drew by the committed seed what leaves with the plan {subject}.")
    seed: str
    profiling: str
    leaving: dict[str, int]
    lines: str
    failed: list[str]


class PlanMoved(Event):
    kind: ClassVar[str] = "rotation_plan.moved"
    subject_type: ClassVar[str] = "rotation_plan"
    sentence = _("{actor} moved the plan {subject} from {before} to {after}.")
    before: str
    after: str
    lines: str | None = None
    reason: str | None = None
    proposed_by: str | None = None
    approved_by: str | None = None
    task_set: str | None = None


class PlanEscalated(Event):
    kind: ClassVar[str] = "rotation_plan.escalated"
    subject_type: ClassVar[str] = "rotation_plan"
    sentence = _("{actor} noted that the plan {subject} is overdue.")
    owner: str


class AnchorsRun(Event):
    """`figures` is the digest of the sealed means."""

    kind: ClassVar[str] = "rotation_plan.anchors_run"
    subject_type: ClassVar[str] = "rotation_plan"
    sentence = _("{actor} ran {runs} fixed harnesses on both versions of the plan {subject}.")
    anchors: dict[str, str]
    runs: int
    figures: str


class SuccessionStated(Event):
    """What the public is told: whole points by domain."""

    kind: ClassVar[str] = "succession.stated"
    subject_type: ClassVar[str] = "succession"
    sentence = _("{actor} stated how far {label} lies from {former}.")
    plan: str
    former: str
    label: str
    mark: str
    shifts: dict[str, dict[str, int]]


class _Read(Event):
    """Somebody of the staff was shown it; recorded before the page is sent."""

    representation: str
    surface: str


class EntryRead(_Read):
    kind: ClassVar[str] = "rotation.read"
    subject_type: ClassVar[str] = "rotation_entry"
    sentence = _("{actor} was shown the entry {subject} of the rotation queue ({surface}).")


class PlanRead(_Read):
    kind: ClassVar[str] = "rotation_plan.read"
    subject_type: ClassVar[str] = "rotation_plan"
    sentence = _("{actor} was shown the plan {subject} ({surface}).")


class HeldOutRead(_Read):
    """Which task an entry is about, by name."""

    kind: ClassVar[str] = "held_out.read"
    subject_type: ClassVar[str] = "rotation_entry"
    sentence = _("{actor} was told which task the entry {subject} of the rotation queue is about.")
