"""Reads about runs, episodes and workers. Per-task outcomes of held-out runs are read by `governance` workers only."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

from django.db.models import Count

from evaluation.models import (
    Attempt,
    Ending,
    Episode,
    EvaluationRun,
    PublicTaskResult,
    TaskResult,
    WorkerReport,
)

OPEN_STATES = (EvaluationRun.State.EXECUTING, EvaluationRun.State.GRADING)


@dataclass(frozen=True)
class PublicOutcomes:
    """How a preflight went: runs with a result, those that crashed with neither artefact nor reply, missing ones."""

    total: int
    crashed_without_output: int
    missing: int


@dataclass(frozen=True)
class RunWork:
    """What a run waits for, for staff: episodes by state, and since when the oldest has been waiting."""

    run: EvaluationRun
    counts: dict[str, int]
    waiting_since: datetime | None
    faults: dict[str, int]


def open_run_ids() -> list[UUID]:
    return list(
        EvaluationRun.objects.filter(state__in=OPEN_STATES)
        .order_by("created_at")
        .values_list("id", flat=True)
    )


def episode_counts(run_id: UUID) -> Counter[str]:
    """Episodes of a run by state; absent states count 0."""
    rows = Episode.objects.filter(run_id=run_id).values_list("state").annotate(n=Count("id"))
    return Counter(dict(rows))


def quarter_of(counts: Counter[str], total: int) -> int:
    """Coarse progress of a run: 0, 25, 50 or 75 percent, never more, whatever is missing for the rest."""
    done = (Episode.State.GRADED, Episode.State.UNAVAILABLE, Episode.State.QUARANTINED)
    through = sum(counts[state] for state in done)
    return min(75, 25 * (4 * through // total)) if total else 0


def public_outcomes(run: EvaluationRun) -> PublicOutcomes:
    results = PublicTaskResult.objects.filter(run=run)
    silent = results.filter(ending=Ending.CRASHED, has_output=False).count()
    return PublicOutcomes(total=results.count(), crashed_without_output=silent, missing=run.missing)


def canary_outcome(run: EvaluationRun) -> Literal["ok", "crashed", "missing"]:
    """A canary fails like a preflight run fails: crashed, with neither artefact nor reply."""
    if run.missing:
        return "missing"
    silent = Attempt.objects.filter(episode__run=run, ending=Ending.CRASHED, has_output=False).exists()
    return "crashed" if silent else "ok"


def work_of(runs: list[EvaluationRun]) -> list[RunWork]:
    """For the staff page: the work left in each run, and infrastructure faults by cause."""
    found = []
    for run in runs:
        waiting = Episode.objects.filter(run=run, state__in=(Episode.State.READY, Episode.State.EXECUTED))
        faults = (
            Attempt.objects.filter(episode__run=run, ending=Ending.INFRASTRUCTURE_FAULT)
            .values_list("cause")
            .annotate(n=Count("id"))
        )
        last = (
            Attempt.objects.filter(episode__run=run)
            .order_by("-started_at")
            .values_list("started_at", flat=True)
        )
        since = (last.first() or run.created_at) if waiting.exists() else None
        found.append(RunWork(run, dict(episode_counts(run.id)), since, dict(faults)))
    return found


def live_workers(since: datetime) -> list[WorkerReport]:
    return list(WorkerReport.objects.filter(seen_at__gte=since).order_by("queue", "worker"))


def waiting_states() -> set[str]:
    """Which of ready and executed episodes open runs have."""
    rows = Episode.objects.filter(
        run__state__in=OPEN_STATES, state__in=(Episode.State.READY, Episode.State.EXECUTED)
    )
    return set(rows.values_list("state", flat=True).distinct())


def single_results(run: EvaluationRun) -> list[TaskResult]:
    """Every held-out result of a run, by task and run index. Sealed: whoever reads records the read first."""
    rows = TaskResult.objects.filter(episode__run=run).select_related("episode__task")
    return list(rows.order_by("episode__task__domain", "episode__task__slug", "episode__run_index"))
