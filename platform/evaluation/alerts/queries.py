"""Reads about the fleet as a whole. `standstill` uses only what the process that serves vendors may read."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db import connection
from django.db.models import Max, Min

from config import clock
from evaluation.fleet.models import Pause, Switch
from evaluation.models import EvaluationRun, WorkerReport

QUEUES = ("execute", "grade")
BEATS = 2.25
"""Signs of life that a worker may miss before it is taken for dead: it gives three within each lease."""
SHORTEST_SILENCE = timedelta(seconds=10)
"""With very short leases a busy machine is late by more than that many."""
WAIT_STEP = timedelta(minutes=10)
"""How exactly vendors are told how long anybody has waited."""


@dataclass(frozen=True)
class Standstill:
    """That no worker of some queue lives, or that staff paused execution. `since` is None where none was ever seen."""

    queues: tuple[str, ...]
    """Those without a worker."""
    ordered: bool
    """Whether staff paused it."""
    since: datetime | None
    oldest_wait: timedelta
    """How long the longest-waiting open run has waited by now, in whole steps of `WAIT_STEP`."""


def silence() -> timedelta:
    """How long a worker may be silent before it is taken for dead; less than a minute with leases of a minute."""
    return max(timedelta(seconds=settings.LEASE_SECONDS * BEATS / 3), SHORTEST_SILENCE)


def standstill() -> Standstill | None:
    """Since when evaluation stands still, for want of workers or as ordered; None while it goes on."""
    now = clock.now()
    rows = WorkerReport.objects.filter(queue__in=QUEUES, passed=True).values("queue")
    last = dict(rows.annotate(at=Max("seen_at")).values_list("queue", "at"))
    dead = [queue for queue in QUEUES if queue not in last or now - last[queue] > silence()]
    order = Pause.objects.filter(switch=Switch.EXECUTION, lifted_at=None).values_list("ordered_at", flat=True)
    ordered = order.first()
    if not dead and ordered is None:
        return None
    known = [last[queue] for queue in dead if queue in last] + ([ordered] if ordered else [])
    since = min(known, default=None)
    open_runs = EvaluationRun.objects.filter(
        state__in=(EvaluationRun.State.EXECUTING, EvaluationRun.State.GRADING)
    )
    first = open_runs.aggregate(at=Min("created_at"))["at"]
    waited = now - max(first, since or first) if first else timedelta(0)
    return Standstill(tuple(dead), ordered is not None, since, waited - waited % WAIT_STEP)


@dataclass(frozen=True)
class Waiting:
    """What waits in a queue: episodes that could be claimed, and since when the oldest of their runs was not served."""

    queue: str
    claimable: int
    since: datetime | None


_WAITING = """
SELECT queue, sum(n)::bigint, min(since) FROM (
  SELECT w.queue, w.n, CASE w.queue
    WHEN 'execute' THEN greatest(r.created_at, s.served_at, (
      SELECT max(a.started_at) FROM evaluation_attempt a
      JOIN evaluation_episode e ON e.id = a.episode_id WHERE e.run_id = r.id))
    ELSE greatest(s.graded_at, (
      SELECT min(a.ended_at) FROM evaluation_attempt a
      JOIN evaluation_episode e ON e.id = a.episode_id WHERE e.run_id = r.id AND e.state = 'executed')) END AS since
  FROM evaluation_evaluationrun r
  JOIN evaluation_runshare s ON s.run_id = r.id
  JOIN LATERAL (
    SELECT CASE e.state WHEN 'ready' THEN 'execute' ELSE 'grade' END AS queue, count(*) AS n
    FROM evaluation_episode e WHERE e.run_id = r.id AND e.state IN ('ready', 'executed') GROUP BY 1) w ON true
  WHERE r.state IN ('executing', 'grading')) AS waiting
GROUP BY queue
"""
"""A run waits for execution since one of its episodes was last begun, for grading since its oldest one was executed.
Fair sharing serves each run in turn, so none of them waits long while there is a worker."""


def waiting() -> list[Waiting]:
    """What waits for workers now, by queue. For the scheduler, staff and metrics: it looks at episodes."""
    with connection.cursor() as cursor:
        cursor.execute(_WAITING)
        found = {queue: Waiting(queue, count, since) for queue, count, since in cursor.fetchall()}
    return [found.get(queue, Waiting(queue, 0, None)) for queue in QUEUES]
