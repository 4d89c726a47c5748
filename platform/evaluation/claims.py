"""Claims: a worker takes an episode under a fenced lease, renews it, and writes the end of it exactly once.

The fence is a number that grows with each claim. Every write names the fence it was claimed under and touches no row
once another claim was made, so a worker that was stopped, lost or told twice changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import psycopg
from django.conf import settings
from django.db import connection, transaction
from django.db.models import Q
from psycopg.types.json import Jsonb

from audit import log
from audit.events import Actor, system
from config import clock
from config.ids import opaque_id
from evaluation import events, statements
from evaluation.fleet.models import EpisodeQuarantine
from evaluation.fleet.quarantine import set_apart
from evaluation.models import Attempt, Ending, Episode, EvaluationRun

WORKER_LOST = "worker_lost"
STOPPED_BY_STAFF = "stopped_by_staff"
HANDED_BACK = "handed_back"
RUN_CANCELLED = "run_cancelled"
HELD_STATES = (Episode.State.LEASED, Episode.State.GRADING)
UPSTREAM_STOPPED = "upstream_stopped"
UNCOUNTED = frozenset({UPSTREAM_STOPPED, HANDED_BACK})
"""Causes that use up none of an episode's attempts: it is tried again as if this one had not been."""
MOST_UNCOUNTED = 5
"""Of an episode; from then on each counts, so that nobody tries one without end."""
LOCK_SPACE = 1
"""First half of the advisory lock under which one kernel's claims are made one after the other."""
UNBOUNDED = 1_000_000
LOOKS = 3
"""How often a claim is tried again where other workers hold each episode of the run in turn just then."""


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
class ExecutionClaim(Claim):
    """An episode to run: how often it was claimed, this time included, and what its task asks for."""

    attempts: int
    turns: int
    budget_seconds: int
    budget_steps: int
    budget_tokens: int
    pack_id: UUID
    offset: int
    size: int


@dataclass(frozen=True)
class GradingClaim(Claim):
    """An episode to grade: how often it was taken for that, this time included, what was left, and by which rules."""

    gradings: int
    artefact_key: str
    artefact_sha256: str
    exit_code: int | None
    has_output: bool
    task_label: str
    domain: str
    pack_id: UUID
    offset: int
    size: int


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
    answer_sha256: str = ""
    host: str = ""
    speed_class: str = ""
    signals: Mapping[str, int] = field(default_factory=dict)
    steps: int | None = None
    tokens: int | None = None
    tokens_complete: bool = True
    asked_unlisted: bool = False
    refused_calls: int = 0


def retries() -> int:
    """Further attempts after infrastructure faults, and further gradings after technical faults of a grader."""
    return int(settings.EPISODE_RETRIES)


def lease() -> timedelta:
    return timedelta(seconds=settings.LEASE_SECONDS)


EVERY_KIND = tuple(str(kind) for kind in EvaluationRun.Kind)


def claim_execution(
    worker: str, kernel: str = "", host: str = "", kinds: Sequence[str] = EVERY_KIND
) -> ExecutionClaim | None:
    """Take the next episode to execute of runs of these kinds, fairly across them; None where nothing is to be had,
    execution is paused, or the worker or its host are to take nothing.

    Of organisations (with those linked to them) the one with the fewest episodes under way is served, among equals the
    one served longest ago, and so among its runs: queueing more gives nobody a larger share.

    A run waits while it, or all runs of its organisation and those linked with it, have as many episodes under way as
    the settings allow, and while more of its episodes wait for a grader than those say: grading goes first. The
    ceilings are looked at without a lock between hosts: as many as claim at the same instant may exceed them.

    Within a run first attempts go before further ones, so that an episode that takes its worker down cannot hold
    up the others. A harness whose output its vendor sees never runs beside a held-out one on one kernel: there is
    always some counter or cache through which one could tell the other what it reads. Raises KernelTaken where the
    run whose turn it is has to wait for that; no other run goes before it.
    """
    for _ in range(LOOKS):
        now = clock.now()
        with transaction.atomic():
            _one(statements.ONE_KERNEL, space=LOCK_SPACE, kernel=kernel)
            row = _one(
                statements.CLAIM_EXECUTION,
                worker=worker,
                kernel=kernel,
                host=host,
                kinds=list(kinds),
                now=now,
                until=now + lease(),
                attempt=opaque_id(),
                run_ceiling=settings.RUN_CEILING or UNBOUNDED,
                lineage_ceiling=settings.ORGANISATION_CEILING or UNBOUNDED,
                backlog=settings.GRADING_BACKLOG,
            )
        if row is None:
            return None
        waits, *claimed = row
        if waits:
            raise KernelTaken(kernel)
        if claimed[0] is not None:
            return ExecutionClaim(*claimed)
    return None


def claim_grading(worker: str, host: str = "") -> GradingClaim | None:
    """Take the next executed episode for grading, fairly across runs; None where nothing is to be had, or the worker
    or its host are to take nothing."""
    for _ in range(LOOKS):
        now = clock.now()
        row = _one(statements.CLAIM_GRADING, worker=worker, host=host, now=now, until=now + lease())
        if row is None:
            return None
        if row[0] is not None:
            return GradingClaim(*row)
    return None


def _one(sql: str, **parameters: Any) -> tuple[Any, ...] | None:
    """The first row of a statement that is prepared once a connection; Django's own cursors send the text each time."""
    connection.ensure_connection()
    with connection.wrap_database_errors, psycopg.Cursor(connection.connection) as cursor:
        row: tuple[Any, ...] | None = cursor.execute(sql, parameters, prepare=True).fetchone()
        return row


def renew(held: Sequence[Claim]) -> set[int]:
    """Extend the leases that are still held; a lost one stays lost. Returns the episodes of those that are held."""
    still = still_held(held)
    for claim in held:
        if claim.episode_id in still and not _held(claim, HELD_STATES).update(
            lease_until=clock.now() + lease()
        ):
            still.discard(claim.episode_id)
    return still


def still_held(held: Sequence[Claim]) -> set[int]:
    """The episodes of those claims that are not void.

    A claim that the database forgot when it was killed has no attempt, though another may have its fence by now.
    """
    fences = {claim.episode_id: claim.fence for claim in held}
    rows = Episode.objects.filter(pk__in=fences, state__in=HELD_STATES).values_list("pk", "fence")
    tries = {claim.attempt_id: claim.episode_id for claim in held if isinstance(claim, ExecutionClaim)}
    known = set(Attempt.objects.filter(pk__in=tries).values_list("pk", flat=True)) if tries else set()
    forgotten = {episode for attempt, episode in tries.items() if attempt not in known}
    return {pk for pk, fence in rows if fences[pk] == fence} - forgotten


def _held(claim: Claim, states: tuple[str, ...]) -> Any:
    return Episode.objects.filter(pk=claim.episode_id, fence=claim.fence, state__in=states)


def finish_attempt(claim: ExecutionClaim, finish: Finish, *, by: Actor) -> bool:
    """Write the end of an attempt, once. False where the claim was lost in the meantime: then nothing is written.

    An infrastructure fault gives the episode another attempt of the same run index while `retries()` last; after that
    it is unavailable.
    """
    faulty = finish.ending == Ending.INFRASTRUCTURE_FAULT
    state = state_after_fault(claim.attempts) if faulty else Episode.State.EXECUTED
    if finish.cause in UNCOUNTED:
        earlier = Attempt.objects.filter(episode=claim.episode_id, cause=finish.cause).count()
        if earlier < MOST_UNCOUNTED:
            state = Episode.State.READY
        else:
            finish = replace(finish, cause=f"{finish.cause}_again")
    with transaction.atomic():
        return _end_attempt(claim, state, finish, by=by)


def state_after_fault(attempts: int) -> str:
    """Where an episode goes whose latest of `attempts` attempts fell to an infrastructure fault."""
    return Episode.State.READY if attempts <= retries() else Episode.State.UNAVAILABLE


def _end_attempt(claim: Claim, state: str, finish: Finish, *, by: Actor, step: int = 0) -> bool:
    """Write attempt, episode and event; `step` is added to the fence. False where the claim was lost."""
    ended = _one(
        statements.END_ATTEMPT,
        episode=claim.episode_id,
        fence=claim.fence,
        step=step,
        uncounted=int(finish.cause in UNCOUNTED),
        state=str(state),
        attempt=claim.attempt_id,
        ended_at=clock.now(),
        **{**vars(finish), "ending": str(finish.ending), "signals": Jsonb(dict(finish.signals))},
    )
    if ended is None:
        return False
    log.append(
        events.AttemptEnded(
            subject=claim.attempt_id,
            run=str(claim.run_id),
            number=claim.attempt_number,
            ending=str(finish.ending),
            artefact=finish.artefact_sha256,
            outcome="fault" if finish.ending == Ending.INFRASTRUCTURE_FAULT else "ok",
        ),
        by=by,
    )
    return True


def finish_grading(claim: Claim, write: Callable[[], None]) -> bool:
    """Move a graded episode on and let `write` store its result in the same transaction; False if it was lost."""
    with transaction.atomic():
        if not _held(claim, (Episode.State.GRADING,)).update(state=Episode.State.GRADED, lease_until=None):
            return False
        write()
    return True


def fail_grading(claim: GradingClaim) -> None:
    """A technical fault while grading: grade again while `retries()` last, else the episode is unavailable."""
    state = Episode.State.EXECUTED if claim.gradings <= retries() else Episode.State.UNAVAILABLE
    _held(claim, (Episode.State.GRADING,)).update(state=state, lease_until=None)


def reap(*, by: Actor) -> int:
    """End the attempts of workers whose lease ran out; returns how many episodes were freed."""
    now = clock.now()
    lost = Q(lease_until__lt=now, state__in=HELD_STATES)
    freed = 0
    for episode in Episode.objects.filter(lost).only("id"):
        with transaction.atomic():
            locked = Episode.objects.select_for_update(skip_locked=True).filter(lost, pk=episode.pk).first()
            if locked is not None:
                _free(locked, by=by)
                freed += 1
    return freed


def _free(episode: Episode, *, by: Actor) -> None:
    """The fence moves on, so that the lost worker's claim is void even where the episode is not claimed again."""
    if episode.state == Episode.State.GRADING:
        again = episode.grading_attempts <= retries()
        episode.state = Episode.State.EXECUTED if again else Episode.State.UNAVAILABLE
        episode.fence += 1
        episode.lease_until = None
        episode.save(update_fields=["state", "fence", "lease_until"])
        return
    lost = _claim_on(episode)
    finish = Finish(ending=Ending.INFRASTRUCTURE_FAULT, cause=WORKER_LOST)
    _end_attempt(lost, state_after_fault(episode.attempts), finish, by=by, step=1)
    _quarantine_poison(episode)


def _quarantine_poison(episode: Episode) -> None:
    """An episode that took its worker down each time it was tried is not tried again until staff release it."""
    episode.refresh_from_db(fields=["state"])
    latest = Attempt.objects.filter(episode=episode).order_by("-number").values_list("cause", flat=True)
    lost = list(latest[: episode.attempts]).count(WORKER_LOST)
    if episode.state == Episode.State.UNAVAILABLE and lost > retries():
        reason = f"{lost} attempts ended with the loss of their worker"
        set_apart(episode, cause=EpisodeQuarantine.Cause.POISON, reason=reason, by=system("reaper"))


def hand_back(claim: ExecutionClaim, *, by: Actor) -> bool:
    """Give an episode to others at once: the attempt ends without an outcome, and none of its allowance is used up."""
    finish = Finish(ending=Ending.INFRASTRUCTURE_FAULT, cause=HANDED_BACK)
    with transaction.atomic():
        return _end_attempt(claim, Episode.State.READY, finish, by=by, step=1)


def hand_back_grading(claim: GradingClaim) -> bool:
    """The same of a grading: it is executed, and waits for another grader."""
    back = {"grading_attempts": claim.gradings - 1, "fence": claim.fence + 1, "lease_until": None}
    held = _held(claim, (Episode.State.GRADING,))
    return bool(held.update(state=Episode.State.EXECUTED, **back))


def cancel_attempts(run_id: UUID, *, by: Actor) -> None:
    """End every attempt of a locked run that is under way: its claim is void, and its worker kills it."""
    leased = Episode.objects.select_for_update().filter(run_id=run_id, state=Episode.State.LEASED)
    for episode in leased.order_by("pk"):
        finish = Finish(ending=Ending.CANCELLED, cause=RUN_CANCELLED)
        _end_attempt(_claim_on(episode), Episode.State.CANCELLED, finish, by=by, step=1)


def end_the_rest(run_id: UUID, *, by: Actor) -> None:
    """End attempts of a cancelled run that were claimed while it was being cancelled: no episode of it is leased."""
    for attempt in Attempt.objects.filter(episode__run=run_id, ended_at=None).order_by("pk"):
        found = {"ended_at": clock.now(), "ending": Ending.CANCELLED, "cause": RUN_CANCELLED}
        Attempt.objects.filter(pk=attempt.pk).update(**found)
        ended = events.AttemptEnded(
            subject=attempt.pk,
            run=str(run_id),
            number=attempt.number,
            ending=str(Ending.CANCELLED),
            outcome="ok",
        )
        log.append(ended, by=by)


def void_attempt(episode: Episode, *, by: Actor) -> None:
    """End the attempt of a locked, leased episode without an outcome; whoever holds it finds its claim void."""
    finish = Finish(ending=Ending.INFRASTRUCTURE_FAULT, cause=STOPPED_BY_STAFF)
    _end_attempt(_claim_on(episode), Episode.State.READY, finish, by=by, step=1)


def _claim_on(episode: Episode) -> Claim:
    """The claim under which a leased episode is held."""
    attempt = Attempt.objects.get(episode=episode, fence=episode.fence)
    return Claim(
        episode_id=episode.id,
        run_id=episode.run_id,
        task_id=episode.task_id,
        run_index=episode.run_index,
        fence=episode.fence,
        attempt_id=attempt.id,
        attempt_number=attempt.number,
    )
