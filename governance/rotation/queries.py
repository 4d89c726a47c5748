"""Reads about rotation, for staff and for the work that plans it."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import QuerySet

from benchmark.models import Domain, Group, TaskRevision, TaskSetVersion
from benchmark.profiling.profile import TIERS, Profile
from governance.rotation import drawing
from governance.rotation.models import (
    Profiling,
    RotationEntry,
    RotationLine,
    RotationPlan,
    Succession,
    TaskProfile,
)
from governance.rotation.policies import ENTRY_ENDS, PLAN_ENDS, short

SHOWN = 200
THOUSANDTHS = 1000


def digest_of(found: object) -> str:
    """SHA-256 over the compact JSON form with sorted keys; for what is too long for the form of events."""
    return hashlib.sha256(json.dumps(found, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def open_entries(task_set: TaskSetVersion | None = None) -> list[RotationEntry]:
    """Entries that are not at their end: what waits for somebody first, then by score."""
    rows = _entries().exclude(state__in=ENTRY_ENDS)
    if task_set is not None:
        rows = rows.filter(task_set=task_set)
    order = ("proposed", "queued", "rotating", "retiring", "watching")
    return sorted(rows[:SHOWN], key=lambda row: (order.index(row.state), -row.score, row.opened_at))


def waiting_tasks(task_set: TaskSetVersion) -> set[UUID]:
    """Ids of the version's tasks that have an entry which is not at its end."""
    rows = RotationEntry.objects.filter(task_set=task_set).exclude(state__in=ENTRY_ENDS)
    return set(rows.values_list("task_id", flat=True))


def ended_entries() -> list[RotationEntry]:
    return list(_entries().filter(state__in=ENTRY_ENDS).order_by("-state_since")[:SHOWN])


def entry(which: UUID) -> RotationEntry | None:
    return _entries().filter(pk=which).first()


def _entries() -> QuerySet[RotationEntry]:
    return RotationEntry.objects.select_related("task_set", "task", "proposed_by", "decided_by")


def plans() -> list[RotationPlan]:
    rows = RotationPlan.objects.select_related("former", "next", "proposed_by", "approved_by")
    return sorted(rows.order_by("-opened_at")[:SHOWN], key=lambda row: row.state in PLAN_ENDS)


def plan(which: UUID) -> RotationPlan | None:
    rows = RotationPlan.objects.select_related("former", "next", "proposed_by", "approved_by", "profiling")
    return rows.filter(pk=which).first()


def latest_profiling(task_set: TaskSetVersion) -> Profiling | None:
    return Profiling.objects.filter(task_set=task_set).order_by("-made_at").first()


def profiled_tasks(task_set: TaskSetVersion) -> QuerySet[TaskRevision]:
    """What a profiling covers: held-out and public tasks of the version, and the reserve."""
    own = TaskRevision.objects.filter(version=task_set, group__in=(Group.HELD_OUT, Group.PUBLIC))
    return (own | reserve(task_set)).order_by("pk")


def reserve(task_set: TaskSetVersion) -> QuerySet[TaskRevision]:
    """Reserve tasks of any version that passed admission under this version's evaluator, and that no plan took.

    One whose name the version uses already is none: it came in with an earlier rotation.
    """
    used = RotationLine.objects.exclude(plan__state="discarded").values("replacement")
    names = TaskRevision.objects.filter(version=task_set).exclude(group=Group.RESERVE).values("slug")
    rows = TaskRevision.objects.filter(
        group=Group.RESERVE,
        version__evaluator_version=task_set.evaluator_version,
        version__admission__digest__isnull=False,
    )
    return rows.exclude(pk__in=used).exclude(slug__in=names)


def profiles(profiling: Profiling, tasks: Iterable[TaskRevision]) -> list[Profile]:
    """Of those of the tasks that were profiled."""
    scores = dict(TaskProfile.objects.filter(profiling=profiling).values_list("task_id", "scores"))
    return [_profile(task, scores[task.pk]) for task in tasks if task.pk in scores]


def _profile(task: TaskRevision, scores: dict[str, list[int]]) -> Profile:
    return Profile(
        key=str(task.pk),
        domain=task.domain,
        category=task.category,
        operation=task.operation,
        tier=TIERS.get(task.difficulty, len(TIERS)),
        turns=task.turns,
        seconds=task.budget_seconds,
        scores={name: sum(runs) / len(runs) / THOUSANDTHS for name, runs in scores.items()},
    )


def held_out(task_set: TaskSetVersion) -> QuerySet[TaskRevision]:
    return TaskRevision.objects.filter(version=task_set, group=Group.HELD_OUT)


@dataclass(frozen=True)
class Stock:
    """Reserve tasks of one stratum beside what a version is expected to take of it."""

    stratum: tuple[str, str, str, int]
    stock: int
    needed: float

    @property
    def domain(self) -> str:
        return str(Domain(self.stratum[0]).label)

    @property
    def is_short(self) -> bool:
        return short(self.stock, self.needed)


def stock(task_set: TaskSetVersion) -> list[Stock]:
    """By stratum of the held-out group; strata that are short first."""
    own = [_profile(task, {}) for task in held_out(task_set)]
    there = Counter(_profile(task, {}).stratum for task in reserve(task_set))
    waiting = Counter(
        RotationEntry.objects.filter(task_set=task_set, state__in=("rotating", "retiring")).values_list(
            "task__domain", flat=True
        )
    )
    need = drawing.expected_need(own, waiting)
    rows = [Stock(stratum, there[stratum], needed) for stratum, needed in need.items()]
    return sorted(rows, key=lambda row: (not row.is_short, row.stratum))


@dataclass(frozen=True)
class DomainChange:
    """What a plan changes in a domain, in counts."""

    domain: str
    held_out: int
    leaving: int
    mean_distance: float
    largest_distance: float
    public: int


def changes(found: RotationPlan, lines: Sequence[RotationLine] | None = None) -> list[DomainChange]:
    """By domain, how many leave, how near their replacements are, and how many become public."""
    rows = list(found.lines.all()) if lines is None else lines
    sizes = Counter(held_out(found.former).values_list("domain", flat=True))
    found_rows = []
    for domain in Domain:
        own = [row for row in rows if row.domain == domain]
        apart = [row.distance for row in own]
        found_rows.append(
            DomainChange(
                domain=str(domain.label),
                held_out=sizes[domain.value],
                leaving=len(own),
                mean_distance=sum(apart) / len(apart) if apart else 0.0,
                largest_distance=max(apart, default=0.0),
                public=sum(row.fate == RotationLine.Fate.PUBLIC for row in own),
            )
        )
    return found_rows


def succession_after(task_set: TaskSetVersion) -> Succession | None:
    """The step from this version to the next, where there is one. What pages for everybody show."""
    return Succession.objects.select_related("next", "former").filter(former=task_set).first()


def succession_before(task_set: TaskSetVersion) -> Succession | None:
    return Succession.objects.select_related("next", "former").filter(next=task_set).first()
