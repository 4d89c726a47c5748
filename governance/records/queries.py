"""Reads of the public records."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from benchmark.models import Group, TaskSetVersion
from config import clock
from governance.models import ReleaseDate
from governance.queries import ReleasedResult
from governance.records import lines
from governance.records.models import ChangeLogLine, LeakIndex
from governance.records.reach import reach
from submissions.models import Submission
from submissions.policies.states import IN_FLIGHT

PATIENCE = timedelta(hours=1)
MOST = 500
"""Lines of one page; the errata documents hold them all."""


@dataclass(frozen=True)
class Retired:
    """A task of the retirement list, with why it was retired and after which version."""

    task: str
    reason: str
    task_set: str
    said_at: Any

    @property
    def reason_words(self) -> str:
        return str(lines.REASONS[self.reason])


def change_log(task_set: TaskSetVersion | None = None) -> list[ChangeLogLine]:
    """Public lines, newest first: of one version with those about all, or every one."""
    rows = ChangeLogLine.objects.select_related("task_set", "published_in")
    if task_set is not None:
        rows = rows.filter(task_set=task_set) | rows.filter(task_set=None)
    return list(rows.order_by("-said_at", "-id")[:MOST])


def retirement_list() -> list[Retired]:
    """Retired tasks by name: contaminated, distorted, outdated (white paper 7.3)."""
    rows = ChangeLogLine.objects.filter(kind=ChangeLogLine.Kind.RETIREMENT).select_related("task_set")
    found = [
        Retired(
            str(row.facts["task"]),
            str(row.facts["reason"]),
            row.task_set.label if row.task_set else "",
            row.said_at,
        )
        for row in rows
    ]
    return sorted(found, key=lambda row: row.task)


def face(row: ChangeLogLine) -> dict[str, Any]:
    """The one machine form of a line; errata documents hold the same."""
    return {
        "id": str(row.id),
        "kind": row.kind,
        "task_set": row.task_set.label if row.task_set else None,
        "facts": row.facts,
        "sentence": lines.sentences(row.kind, row.facts),
        "text": {"en": row.text_en, "zh-hans": row.text_zh} if row.text_en else {},
        "said_at": row.said_at.isoformat(),
    }


def defects_of(task_set: TaskSetVersion) -> int:
    """How many held-out tasks of the version are under revision, as last made public; 0 where nothing was said."""
    rows = ChangeLogLine.objects.filter(task_set=task_set, kind=ChangeLogLine.Kind.DEFECT_KNOWN)
    latest = rows.order_by("-said_at", "-id").first()
    return int(latest.facts["tasks"]) if latest else 0


def revision_of(result: ReleasedResult, task_set: TaskSetVersion) -> dict[str, Any]:
    """What a result says of tasks under revision: how many, and by domain how far its value could differ without them.

    Empty where none is known. Made of the shown values and of public numbers alone.
    """
    count = defects_of(task_set)
    if not count:
        return {}
    sizes = {
        domain: facts.get("groups", {}).get(Group.HELD_OUT, 0)
        for domain, facts in task_set.composition.items()
    }
    reaches = {
        row.domain: reach(row.value, under_revision=count, tasks=sizes.get(row.domain, 0))
        for row in result.domains
        if row.value is not None
    }
    return {"tasks": count, "at_most": reaches}


def regrades_said(task_set: TaskSetVersion) -> Counter[str]:
    """By cause: how many public lines say that results of the version were graded again and corrected."""
    rows = ChangeLogLine.objects.filter(task_set=task_set, kind=ChangeLogLine.Kind.REGRADE)
    return Counter(str(facts["cause"]) for facts in rows.values_list("facts", flat=True))


def settled_said(task_set: TaskSetVersion) -> Counter[str]:
    """By version that mended them: how many tasks of `task_set` lines have called settled so far."""
    rows = ChangeLogLine.objects.filter(task_set=task_set, kind=ChangeLogLine.Kind.DEFECT_SETTLED)
    found: Counter[str] = Counter()
    for facts in rows.values_list("facts", flat=True):
        found[str(facts["fixed_in"])] += int(facts["tasks"])
    return found


def errata() -> list[ReleaseDate]:
    """Dates of errata that took place with a document, the latest first."""
    rows = ReleaseDate.objects.filter(kind=ReleaseDate.Kind.ERRATA, dated_at__isnull=False)
    return list(rows.exclude(document="").defer("document").order_by("-dated_at"))


def erratum(label: str) -> ReleaseDate | None:
    rows = ReleaseDate.objects.filter(label=label, kind=ReleaseDate.Kind.ERRATA, dated_at__isnull=False)
    return rows.exclude(document="").first()


def versions() -> list[TaskSetVersion]:
    """Every version that was ever open to submissions, the latest first."""
    rows = TaskSetVersion.objects.filter(state=TaskSetVersion.State.FROZEN, opened_at__isnull=False)
    return list(rows.select_related("succession__next", "precession__former").order_by("-opened_at"))


def unindexed() -> list[TaskSetVersion]:
    """Frozen versions without fingerprints whose turn it is.

    Making them keeps a worker busy for a quarter of a minute, so what is being evaluated goes first; `PATIENCE` after
    a version opened it waits no longer, since nothing can be written to a vendor before.
    """
    rows = TaskSetVersion.objects.filter(state=TaskSetVersion.State.FROZEN, closed_at=None)
    if Submission.objects.filter(state__in=IN_FLIGHT).exists():
        rows = rows.filter(opened_at__lt=clock.now() - PATIENCE)
    return list(rows.exclude(pk__in=LeakIndex.objects.values("task_set")))
