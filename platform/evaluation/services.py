"""Runs: made, cancelled, re-opened, and moved on when their episodes are through. Episodes: see `claims`."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import connection, transaction
from django.db.models import F

from audit import log
from audit.events import Actor, system
from benchmark.models import Group, TaskRevision, TaskSetVersion
from config import clock
from evaluation import claims, events, queries
from evaluation.calls.queries import served_otherwise
from evaluation.calls.services import ModelNeed, declare
from evaluation.hosts import queries as hosts
from evaluation.models import Episode, EvaluationRun, RunSecret, RunShare, StoredPackage

SECRET_BYTES = 32
GROUP_OF = {
    EvaluationRun.Kind.PREFLIGHT: Group.PUBLIC,
    EvaluationRun.Kind.CANARY: Group.PUBLIC,
    EvaluationRun.Kind.HELD_OUT: Group.HELD_OUT,
}
OPEN = (Episode.State.READY, Episode.State.LEASED)
LOST = (Episode.State.UNAVAILABLE, Episode.State.QUARANTINED)
"""Without a result, for now: what is in quarantine is repeated only once staff release it."""
UNGRADED = (Episode.State.EXECUTED, Episode.State.GRADING)


def episode_seed(secret: bytes, task_digest: str, run_index: int) -> int:
    """The seed a harness finds in EPISODE_SEED: 63 bits of HMAC(submission secret, task revision, run index)."""
    message = f"{task_digest}:{run_index}".encode()
    return int.from_bytes(hmac.new(bytes(secret), message, hashlib.sha256).digest()[:8], "big") >> 1


def _tasks_of(version: TaskSetVersion, kind: str, sample: int | None, secret: bytes) -> list[UUID]:
    tasks = list(
        TaskRevision.objects.filter(version=version, group=GROUP_OF[EvaluationRun.Kind(kind)])
        .order_by("slug")
        .values_list("id", flat=True)
    )
    if sample is None:
        return tasks
    return sorted(tasks, key=lambda task: hmac.new(secret, task.bytes, hashlib.sha256).digest())[:sample]


def create_run(
    *,
    kind: str,
    version: TaskSetVersion,
    package: StoredPackage,
    command: Sequence[str],
    runs_per_task: int,
    lineage_id: UUID,
    line_id: UUID,
    by: Actor,
    limit_seconds: int | None = None,
    sample: int | None = None,
    priority: int = 0,
    models: Sequence[ModelNeed] = (),
) -> EvaluationRun:
    """Make a run with all its episodes, in a secret random order that is new in each run.

    A preflight and a canary take public tasks, a held-out run takes all of the held-out group; `sample` limits the
    number of tasks (a canary uses 1). Raises ValueError where the version is not frozen or has no such task.
    """
    if not version.is_frozen:
        raise ValueError(f"task-set version {version.label} is not frozen")
    secret = secrets.token_bytes(SECRET_BYTES)
    tasks = _tasks_of(version, kind, sample, secret)
    if not tasks:
        raise ValueError(f"task-set version {version.label} has no task for a {kind} run")
    order = [(task, index) for task in tasks for index in range(runs_per_task)]
    secrets.SystemRandom().shuffle(order)
    with transaction.atomic():
        run = EvaluationRun.objects.create(
            kind=kind,
            version=version,
            package=package,
            command=list(command),
            limit_seconds=limit_seconds,
            runs_per_task=runs_per_task,
            total=len(order),
            lineage_id=lineage_id,
            line_id=line_id,
            priority=priority,
        )
        RunSecret.objects.create(run=run, secret=secret)
        RunShare.objects.create(run=run)
        declare(run, models)
        Episode.objects.bulk_create(
            [
                Episode(run=run, task_id=task, run_index=index, position=at)
                for at, (task, index) in enumerate(order)
            ],
            batch_size=2000,
        )
        log.append(
            events.RunCreated(
                subject=run.id,
                run_kind=str(kind),
                task_set=version.label,
                package=package.digest,
                runs_per_task=runs_per_task,
                episodes=len(order),
            ),
            by=by,
        )
        transaction.on_commit(_take_figures)
        transaction.on_commit(wake_execute)
    return run


def wake_execute() -> None:
    """Tell the execute workers that there may be work; call it after the commit."""
    from config.celery import send_ticket

    send_ticket("evaluation.tasks.execute", queue="execute")


def cancel_run(run: EvaluationRun, *, by: Actor) -> None:
    """Nothing more of the run starts, and what is under way is killed within seconds. Cancelling twice changes nothing.

    Its attempts end as `cancelled`; the workers that hold them find their claims void (`watching`).
    """
    with transaction.atomic():
        locked = EvaluationRun.objects.select_for_update(no_key=True).get(pk=run.pk)
        if locked.state in (EvaluationRun.State.ENDED, EvaluationRun.State.CANCELLED):
            return
        claims.cancel_attempts(locked.id, by=by)
        Episode.objects.filter(run=locked).exclude(state=Episode.State.GRADED).update(
            state=Episode.State.CANCELLED, fence=F("fence") + 1, lease_until=None
        )
        claims.end_the_rest(locked.id, by=by)
        _move(locked, EvaluationRun.State.CANCELLED, ended_at=clock.now())
        log.append(events.RunCancelled(subject=locked.id), by=by)


def rerun_missing(run: EvaluationRun, *, by: Actor) -> int:
    """Give every episode without a valid result another set of attempts; valid ones stay. Returns how many.

    What is in quarantine is left there; where nothing else is missing, the run stays as it is.
    """
    with transaction.atomic():
        locked = EvaluationRun.objects.select_for_update(no_key=True).get(pk=run.pk)
        if locked.state != EvaluationRun.State.ENDED or not locked.missing:
            return 0
        apart = Episode.objects.filter(run=locked, state=Episode.State.QUARANTINED).count()
        count = Episode.objects.filter(run=locked, state=Episode.State.UNAVAILABLE).update(
            state=Episode.State.READY, attempts=0, grading_attempts=0
        )
        if not count:
            return 0
        RunShare.objects.filter(run=locked).update(served_at=clock.now())  # it begins to wait now
        _move(locked, EvaluationRun.State.EXECUTING, missing=0, executed_at=None, ended_at=None)
        event = events.RunReopened(subject=locked.id, episodes=count, quarantined=apart or None)
        log.append(event, by=by)
        transaction.on_commit(wake_execute)
    return count


def _take_figures() -> None:
    """Have the planner look at the new rows: without figures it reads all episodes of a run for each claim."""
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE evaluation_episode")


def settle_run(run_id: UUID) -> str:
    """Move a run on if its episodes allow it, and note its coarse progress; returns its state.

    executing → grading once nothing is left to execute; grading → ended once nothing is left to grade. Whoever
    asked for the run is told by a ticket after the commit; a lost ticket is found by that owner's own sweep.
    """
    with transaction.atomic():
        run = EvaluationRun.objects.select_for_update(no_key=True).get(pk=run_id)
        if run.state not in (EvaluationRun.State.EXECUTING, EvaluationRun.State.GRADING):
            return run.state
        counts = queries.episode_counts(run_id)
        before = run.state
        if run.state == EvaluationRun.State.EXECUTING and not any(counts[state] for state in OPEN):
            _move(run, EvaluationRun.State.GRADING, executed_at=clock.now())
            log.append(events.RunExecuted(subject=run.id), by=system("evaluation"))
        if run.state == EvaluationRun.State.GRADING and not any(counts[state] for state in UNGRADED):
            missing = sum(counts[state] for state in LOST)
            _end(run, missing)
        _note_progress(run, queries.quarter_of(counts, run.total))
        if run.state != before:
            transaction.on_commit(lambda: _tell_owner(run_id))
    return run.state


def _end(run: EvaluationRun, missing: int) -> None:
    grades, classes = hosts.conditions_of(run.id)
    otherwise = served_otherwise(run)
    _move(
        run,
        EvaluationRun.State.ENDED,
        ended_at=clock.now(),
        missing=missing,
        isolation=grades,
        speed=classes,
        served_otherwise=otherwise,
    )
    ended = events.RunEnded(
        subject=run.id,
        missing=missing,
        isolation="; ".join(grades),
        speed="; ".join(classes),
        served_otherwise=", ".join(otherwise),
    )
    log.append(ended, by=system("evaluation"))


def _note_progress(run: EvaluationRun, quarter: int) -> None:
    """Coarse in time as well: at most one look per tick, so that a vendor who polls cannot time single tasks."""
    now = clock.now()
    if now >= clock.next_tick(run.quarter_at or run.created_at, settings.PROGRESS_TICK_SECONDS):
        run.quarter, run.quarter_at = quarter, now
        run.save(update_fields=["quarter", "quarter_at"])


def _move(run: EvaluationRun, state: str, **changes: Any) -> None:
    run.state = state
    for name, value in changes.items():
        setattr(run, name, value)
    run.save(update_fields=["state", *changes])


def _tell_owner(run_id: UUID) -> None:
    from config.celery import send_ticket

    send_ticket("submissions.tasks.advance_run", str(run_id), queue="governance")
