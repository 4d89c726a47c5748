"""Rotation as tests arrange it: profiles without a run, entries, and a plan."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

from accounts.duties.table import Duty
from accounts.models import User
from benchmark.models import Group, TaskRevision, TaskSetVersion
from benchmark.queries import content_digest
from benchmark.services import record_admission
from config import clock
from governance.rotation import planning, profiling, queries, services
from governance.rotation.models import Profiling, RotationEntry, RotationPlan, Succession
from governance.rotation.trials import Tried
from tests.accounts.duties import opened
from tests.factories import BY, draft_version, recorded_as

SEED = "a seed of some length"
DIGEST = hashlib.sha256(SEED.encode()).hexdigest()
BASELINES = ("random", "rule-script")


def governors(count: int = 2) -> list[User]:
    office = opened()
    return [office.holder(Duty.HELD_OUT_GOVERNOR) for _ in range(count)]


def held_out(version: TaskSetVersion, domain: str | None = None) -> list[TaskRevision]:
    rows = TaskRevision.objects.filter(version=version, group=Group.HELD_OUT).order_by("slug")
    return [task for task in rows if domain in (None, task.domain)]


def queued(version: TaskSetVersion, task: TaskRevision | None = None, score: float = 1.0) -> RotationEntry:
    return services.propose(
        version, task or held_out(version)[0], cause="gate_bits", reason="", score=score, by=BY
    )


def reserve(label: str, domains: Mapping[str, int]) -> TaskSetVersion:
    """A draft version whose tasks are all in reserve and passed admission."""
    version = draft_version(label, {domain: (0, count) for domain, count in domains.items()})
    rows = TaskRevision.objects.filter(version=version)
    for row in rows:
        row.slug, row.group = f"{label}-{row.slug}", Group.RESERVE
        row.digest = hashlib.sha256(row.slug.encode()).hexdigest()
        row.save()
    record_admission(version, digest_admitted=content_digest(version), tasks=rows.count(), by=BY)
    return version


def profiled(version: TaskSetVersion, scores: Sequence[float] = (0.0, 0.5)) -> Profiling:
    """Every task of the version and of the reserve with the same scores."""
    tasks = list(queries.profiled_tasks(version))
    found = dict(zip(BASELINES, ((score, score) for score in scores), strict=True))
    tried = [Tried(str(task.pk), found) for task in tasks]
    return profiling.record(version, tasks, tried, [], runs=2, seed="s", by=BY)


def planned(version: TaskSetVersion, label: str = "next") -> RotationPlan:
    return planning.open_plan(version, label=label, seed_digest=DIGEST, by=BY)


def drawn(version: TaskSetVersion, label: str = "next") -> RotationPlan:
    everything = {str(task.pk) for task in held_out(version)}
    return planning.draw(planned(version, label).pk, seed=SEED, unexposed=everything, by=BY)


def succeeded(former: TaskSetVersion, following: TaskSetVersion, mark: str = "annotated") -> Succession:
    """As after a plan that came into force, without one."""
    row = Succession(
        former=former,
        next=following,
        mark=mark,
        shifts={domain: {"shift": 0, "repeat": 1} for domain in ("general", "finance")},
        stated_at=clock.now(),
    )
    with recorded_as("succession", row.id):
        row.save()
    return row


def arranged(version: TaskSetVersion) -> None:
    """A row of an entry, a plan and a profiling of one task."""
    queued(version)
    planned(version)
    tasks = held_out(version)[:1]
    profiling.record(
        version, tasks, [Tried(str(tasks[0].pk), {"random": (0.0,)})], [], runs=1, seed="s", by=BY
    )
