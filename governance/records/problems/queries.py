"""Reads of the problem queue, for staff and sealed work."""

from __future__ import annotations

from collections import Counter
from uuid import UUID

from benchmark.models import Group, TaskRevision, TaskSetVersion
from governance.records.problems import policies
from governance.records.problems.models import Problem

SHOWN = 300


def queue() -> list[Problem]:
    """What is overdue first, then by deadline, ended ones last. Lists name no task."""
    rows = Problem.objects.select_related("task_set", "fixed_in").defer("evidence", "reason")
    found = list(rows.order_by("-reported_at")[:SHOWN])
    return sorted(
        found, key=lambda row: (row.due_at is None, row.escalated_at is None, row.due_at or row.state_since)
    )


def problem(which: UUID) -> Problem | None:
    rows = Problem.objects.select_related("task_set", "task", "fixed_in", "decided_by")
    return rows.filter(pk=which).first()


def under_revision(task_set: TaskSetVersion) -> int:
    """How many held-out tasks of the version have a defect that is confirmed and not settled yet."""
    rows = Problem.objects.filter(task_set=task_set, state__in=policies.LIVE, task__group=Group.HELD_OUT)
    return rows.values("task").distinct().count()


def settled_by_version(task_set: TaskSetVersion) -> Counter[str]:
    """By version that mended them: how many held-out tasks of `task_set` are settled."""
    rows = Problem.objects.filter(task_set=task_set, state=Problem.State.SETTLED, task__group=Group.HELD_OUT)
    pairs = set(rows.values_list("task", "fixed_in__label"))
    return Counter(label for _, label in pairs)


def mended_revisions(task_set: TaskSetVersion) -> dict[UUID, TaskRevision]:
    """By task of the version whose rules or reference answer were settled: its revision in the version that did it."""
    rows = Problem.objects.filter(
        task_set=task_set,
        state=Problem.State.SETTLED,
        task__isnull=False,
        part__in=("rules", "gold", "evaluator"),
    )
    found = {}
    for row in rows.select_related("task").order_by("state_since"):
        fix = TaskRevision.objects.filter(
            version=row.fixed_in, slug=row.task.slug if row.task else ""
        ).first()
        if fix is not None and row.task is not None:
            found[row.task.id] = fix
    return found
