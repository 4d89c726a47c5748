"""Claims: a worker takes an episode under a fenced lease, renews it, and writes the end of it exactly once.

The fence is a number that grows with each claim. Every write names the fence it was claimed under and touches no row
once another claim was made, so a worker that was stopped, lost or told twice changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Q

from audit import log
from audit.events import Actor
from config import clock
from config.ids import opaque_id
from evaluation import events
from evaluation.models import Attempt, Ending, Episode, RunShare
from evaluation.queries import has_ready, kernel_is_taken, runs_to_grade, runs_to_serve

RETRIES = 2
"""Further attempts after infrastructure faults, and further gradings after technical faults of a grader."""
WORKER_LOST = "worker_lost"
LOCK_SPACE = 1
"""First half of the advisory lock under which one kernel's claims are made one after the other."""


class KernelTaken(Exception):
    """The next episode in turn must wait until this kernel is done with those of the other sort."""


@dataclass(frozen=True)
class Claim:
    """What a worker holds: the episode, under which fence, and (for execution) its attempt's opaque id."""

    episode_id: int
    run_id: UUID
    task_id: UUID
    run_index: int
    fence: int
    attempt_id: UUID
    attempt_number: int


@dataclass(frozen=True)
class Finish:
    """How an attempt ended, as the worker found it. `seconds` is harness time."""

    ending: str
    cause: str = ""
    exit_code: int | None = None
    seconds: float | None = None
    isolation: str = ""
    has_output: bool = False
    artefact_key: str = ""
    artefact_sha256: str = ""


def lease() -> timedelta:
    return timedelta(seconds=settings.LEASE_SECONDS)


def claim_execution(worker: str, kernel: str = "") -> Claim | None:
    """Take the next episode to execute, fairly across runs; None where nothing is to be had.

    Within a run first attempts go before further ones, so that an episode that takes its worker down cannot hold
    up the others. A harness whose output its vendor sees never runs beside a held-out one on one kernel: there is
    always some counter or cache through which one could tell the other what it reads. Raises KernelTaken where the
    run whose turn it is has to wait for that; no other run goes before it.
    """
    runs = runs_to_serve()
    for run_id, visible in runs:
        with transaction.atomic():
            _one(
                "SELECT pg_advisory_xact_lock(%(space)s, hashtext(%(kernel)s))",
                space=LOCK_SPACE,
                kernel=kernel,
            )
            if kernel_is_taken(kernel, visible=visible):
                if has_ready(run_id):
                    raise KernelTaken(kernel)
                continue
            claim = _take_execution(run_id, worker, kernel)
            if claim:
                if len(runs) > 1:  # whose turn it is matters only where there are several
                    RunShare.objects.filter(run_id=run_id).update(served_at=clock.now())
                return claim
    return None


def _take_execution(run_id: UUID, worker: str, kernel: str) -> Claim | None:
    now = clock.now()
    row = _one(
        """
        WITH picked AS (
          SELECT id FROM evaluation_episode
          WHERE run_id = %(run)s AND state = 'ready' AND (not_before IS NULL OR not_before <= %(now)s)
          ORDER BY attempts, position LIMIT 1 FOR UPDATE SKIP LOCKED),
        taken AS (
          UPDATE evaluation_episode e SET state = 'leased', fence = e.fence + 1, attempts = e.attempts + 1,
            worker = %(worker)s, kernel = %(kernel)s, lease_until = %(until)s
          FROM picked WHERE e.id = picked.id
          RETURNING e.id, e.task_id, e.run_index, e.fence),
        number AS (
          SELECT taken.id, 1 + count(a.id) AS value
          FROM taken LEFT JOIN evaluation_attempt a ON a.episode_id = taken.id GROUP BY taken.id)
        INSERT INTO evaluation_attempt
          (id, episode_id, number, fence, worker, started_at, ending, cause, isolation, has_output,
           artefact_key, artefact_sha256)
        SELECT %(attempt)s, taken.id, number.value, taken.fence, %(worker)s, %(now)s, '', '', '', false, '', ''
        FROM taken JOIN number ON number.id = taken.id
        RETURNING episode_id, (SELECT task_id FROM taken), (SELECT run_index FROM taken), fence, id, number
        """,
        run=run_id,
        worker=worker,
        kernel=kernel,
        now=now,
        until=now + lease(),
        attempt=opaque_id(),
    )
    return Claim(row[0], run_id, row[1], row[2], row[3], row[4], row[5]) if row else None


def claim_grading(worker: str) -> Claim | None:
    """Take the next executed episode for grading, fairly across runs; None where nothing is to be had."""
    runs = runs_to_grade()
    for run_id in runs:
        with transaction.atomic():
            claim = _take_grading(run_id, worker)
            if claim:
                if len(runs) > 1:
                    RunShare.objects.filter(run_id=run_id).update(graded_at=clock.now())
                return claim
    return None


def _take_grading(run_id: UUID, worker: str) -> Claim | None:
    row = _one(
        """
        WITH picked AS (
          SELECT id FROM evaluation_episode
          WHERE run_id = %(run)s AND state = 'executed'
          ORDER BY grading_attempts, position LIMIT 1 FOR UPDATE SKIP LOCKED)
        UPDATE evaluation_episode e SET state = 'grading', fence = e.fence + 1, worker = %(worker)s,
          grading_attempts = e.grading_attempts + 1, lease_until = %(until)s
        FROM picked WHERE e.id = picked.id
        RETURNING e.id, e.run_id, e.task_id, e.run_index, e.fence,
          (SELECT a.id FROM evaluation_attempt a WHERE a.episode_id = e.id AND a.artefact_key <> ''
           ORDER BY a.number DESC LIMIT 1),
          (SELECT max(a.number) FROM evaluation_attempt a WHERE a.episode_id = e.id)
        """,
        run=run_id,
        worker=worker,
        until=clock.now() + lease(),
    )
    return Claim(*row) if row else None


def _one(sql: str, **parameters: Any) -> tuple[Any, ...] | None:
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        row: tuple[Any, ...] | None = cursor.fetchone()
        return row


def renew(claims: list[Claim]) -> None:
    """Extend the leases that are still held; a lost one stays lost."""
    for claim in claims:
        _held(claim, (Episode.State.LEASED, Episode.State.GRADING)).update(lease_until=clock.now() + lease())


def _held(claim: Claim, states: tuple[str, ...]) -> Any:
    return Episode.objects.filter(pk=claim.episode_id, fence=claim.fence, state__in=states)


def finish_attempt(claim: Claim, finish: Finish, *, by: Actor) -> bool:
    """Write the end of an attempt, once. False where the claim was lost in the meantime: then nothing is written.

    An infrastructure fault gives the episode another attempt of the same run index while `RETRIES` last; after that
    it is unavailable.
    """
    with transaction.atomic():
        changed = _held(claim, (Episode.State.LEASED,)).update(**_after(claim, finish.ending))
        if not changed:
            return False
        _end_attempt(claim.attempt_id, claim.run_id, claim.attempt_number, finish, by=by)
    return True


def _after(claim: Claim, ending: str) -> dict[str, Any]:
    if ending != Ending.INFRASTRUCTURE_FAULT:
        return {"state": Episode.State.EXECUTED, "lease_until": None}
    attempts = Episode.objects.only("attempts").get(pk=claim.episode_id).attempts
    return {"state": state_after_fault(attempts), "lease_until": None}


def state_after_fault(attempts: int) -> str:
    """Where an episode goes whose latest of `attempts` attempts fell to an infrastructure fault."""
    return Episode.State.READY if attempts <= RETRIES else Episode.State.UNAVAILABLE


def _end_attempt(attempt_id: UUID, run_id: UUID, number: int, finish: Finish, *, by: Actor) -> None:
    Attempt.objects.filter(pk=attempt_id).update(
        ended_at=clock.now(),
        ending=finish.ending,
        cause=finish.cause,
        exit_code=finish.exit_code,
        seconds=finish.seconds,
        isolation=finish.isolation,
        has_output=finish.has_output,
        artefact_key=finish.artefact_key,
        artefact_sha256=finish.artefact_sha256,
    )
    log.append(
        events.AttemptEnded(
            subject=attempt_id,
            run=str(run_id),
            number=number,
            ending=str(finish.ending),
            artefact=finish.artefact_sha256,
            outcome="fault" if finish.ending == Ending.INFRASTRUCTURE_FAULT else "ok",
        ),
        by=by,
    )


def finish_grading(claim: Claim, write: Callable[[], None]) -> bool:
    """Move a graded episode on and let `write` store its result in the same transaction; False if it was lost."""
    with transaction.atomic():
        if not _held(claim, (Episode.State.GRADING,)).update(state=Episode.State.GRADED, lease_until=None):
            return False
        write()
    return True


def fail_grading(claim: Claim) -> None:
    """A technical fault while grading: grade again while `RETRIES` last, else the episode is unavailable."""
    with transaction.atomic():
        again = gradings(claim) <= RETRIES
        state = Episode.State.EXECUTED if again else Episode.State.UNAVAILABLE
        _held(claim, (Episode.State.GRADING,)).update(state=state, lease_until=None)


def gradings(claim: Claim) -> int:
    """How often this episode has been taken for grading, this time included."""
    return Episode.objects.only("grading_attempts").get(pk=claim.episode_id).grading_attempts


def reap(*, by: Actor) -> int:
    """End the attempts of workers whose lease ran out; returns how many episodes were freed."""
    now = clock.now()
    lost = Q(lease_until__lt=now, state__in=(Episode.State.LEASED, Episode.State.GRADING))
    freed = 0
    for episode in Episode.objects.filter(lost).only("id"):
        with transaction.atomic():
            locked = Episode.objects.select_for_update(skip_locked=True).filter(lost, pk=episode.pk).first()
            if locked is not None:
                _free(locked, now, by=by)
                freed += 1
    return freed


def _free(episode: Episode, now: datetime, *, by: Actor) -> None:
    if episode.state == Episode.State.GRADING:
        again = episode.grading_attempts <= RETRIES
        episode.state = Episode.State.EXECUTED if again else Episode.State.UNAVAILABLE
    else:
        attempt = Attempt.objects.get(episode=episode, fence=episode.fence)
        finish = Finish(ending=Ending.INFRASTRUCTURE_FAULT, cause=WORKER_LOST)
        _end_attempt(attempt.id, episode.run_id, attempt.number, finish, by=by)
        episode.state = state_after_fault(episode.attempts)
    episode.fence += 1
    episode.lease_until = None
    episode.save(update_fields=["state", "fence", "lease_until"])
