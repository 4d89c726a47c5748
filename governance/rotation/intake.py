"""What enters the queue by itself: exposure, and pass rates that drift. Sealed work, on a tick."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

import numpy as np
from django.db import connection, transaction
from django.db.models import Avg, Case, FloatField, Value, When

from audit.events import Actor
from benchmark.models import Domain, TaskRevision, TaskSetVersion
from benchmark.queries import open_versions
from evaluation.models import TaskResult
from governance.records import services as records
from governance.records.models import ChangeLogLine
from governance.rotation import drift, policies, queries, services
from governance.rotation.models import RotationEntry
from governance.rotation.policies import ENTRY_ENDS, Exposed
from governance.watch.exposure import exposure
from submissions.models import Submission
from submissions.problems import Code, Refused

NOTHING: Mapping[str, float] = {"every": 0.0, "gate": 0.0, "organisations": 0, "drift": 0.0}


def take_in(task_set: TaskSetVersion, *, by: Actor) -> int:
    """Put into the queue whatever the rules say; how many. Repeats change nothing.

    What two people dismissed comes back only when a cause is new or one of its figures has grown by a whole step.
    """
    tasks = {task.pk: task for task in queries.held_out(task_set)}
    known = _last_entries(task_set)
    over = drifted(task_set, list(tasks.values()))
    level = drift.level(len(tasks), over.submissions)
    entered = 0
    for found in exposure(task_set):
        chart = over.highest.get(found.task_id, 1.0)
        facts = Exposed(found.bits, found.gate_bits, found.organisations, found.score, chart > level)
        evidence = {
            "every": round(found.bits, 3),
            "gate": round(found.gate_bits, 3),
            "organisations": found.organisations,
            "drift": round(chart / level, 3),
        }
        causes = policies.causes(facts)
        if not causes or not _is_new(known.get(found.task_id), evidence):
            continue
        try:
            services.propose(
                task_set,
                tasks[found.task_id],
                cause=causes[0],
                reason="",
                score=found.score,
                evidence=evidence | {"causes": [cause.value for cause in causes]},
                by=by,
            )
        except Refused as refused:
            if refused.refusal.code != Code.ROTATION_QUEUED_ALREADY:  # somebody else was as quick
                raise
            continue
        entered += 1
    return entered


def _last_entries(task_set: TaskSetVersion) -> dict[UUID, RotationEntry]:
    """By task, the entry opened last."""
    rows = RotationEntry.objects.filter(task_set=task_set).order_by("opened_at", "pk")
    return {row.task_id: row for row in rows}


def _is_new(last: RotationEntry | None, evidence: Mapping[str, Any]) -> bool:
    if last is None:
        return True
    if last.state not in ENTRY_ENDS:
        return False
    before = NOTHING | last.evidence
    return any(int(evidence[name]) > int(before[name]) for name in NOTHING)


def unexposed(task_set: TaskSetVersion) -> set[str]:
    """Ids of held-out tasks that no answer has told of and no organisation's endpoint has read."""
    return {str(row.task_id) for row in exposure(task_set) if row.bits == 0 and row.organisations == 0}


class Charts:
    """By task, the highest value of its chart, and over how many vendors' submissions."""

    def __init__(self, highest: Mapping[UUID, float], submissions: int) -> None:
        self.highest, self.submissions = highest, submissions


def drifted(task_set: TaskSetVersion, tasks: Sequence[TaskRevision]) -> Charts:
    """Each lineage counts once, with its first complete submission, in the order of release."""
    runs = first_runs(task_set)
    if len(runs) <= drift.FEWEST:
        return Charts({}, len(runs))
    columns = {task.pk: at for at, task in enumerate(tasks)}
    passes = np.full((len(runs), len(tasks)), np.nan)
    success = Case(When(success=True, then=Value(1.0)), default=Value(0.0), output_field=FloatField())
    found = (
        TaskResult.objects.filter(episode__run__in=list(runs))
        .values_list("episode__run_id", "episode__task_id")
        .annotate(share=Avg(success))
    )
    for run, task, share in found:
        if task in columns:
            passes[runs[run], columns[task]] = share
    places = {domain.value: at for at, domain in enumerate(Domain)}
    domains = np.array([places[task.domain] for task in tasks], dtype=np.int64)
    highest = drift.drifted(passes, domains)
    return Charts(
        {task.pk: float(highest[at]) for task, at in zip(tasks, columns.values(), strict=True)}, len(runs)
    )


def first_runs(task_set: TaskSetVersion) -> dict[UUID, int]:
    """Held-out runs of each lineage's first released submission, with their place in time."""
    rows = (
        Submission.objects.filter(task_set=task_set, release__isnull=False, held_out_run__isnull=False)
        .order_by("release__released_at", "pk")
        .values_list("organisation__lineage_id", "held_out_run_id")
    )
    first: dict[UUID, UUID] = {}
    for lineage, run in rows:
        first.setdefault(lineage, run)
    return {run: at for at, run in enumerate(first.values())}


def say_retirements(*, by: Actor) -> int:
    """Name retired tasks in the public list once no open version holds them out; how many were named.

    Two at once take turns, so that no task is named twice.
    """
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended('retirements', 0))")
        return _say_retirements(by=by)


def _say_retirements(*, by: Actor) -> int:
    live = set(
        TaskRevision.objects.filter(
            version__in=open_versions(), group__in=("held_out", "reserve")
        ).values_list("slug", flat=True)
    )
    lines = ChangeLogLine.objects.filter(kind="retirement")
    said = {line.facts["task"] for line in lines}
    rows = RotationEntry.objects.filter(state="retired").select_related("task", "task_set")
    due = [row for row in rows if row.task.slug not in live | said]
    for row in due:
        facts = {"task": row.task.slug, "reason": row.ground}
        records.add_line("retirement", row.task_set, facts=facts, by=by)
    return len(due)
