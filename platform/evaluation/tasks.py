"""Celery entry points of evaluation. A message carries nothing but the news that there may be work."""

from __future__ import annotations

import os
from uuid import UUID

import structlog
from celery import shared_task
from celery.signals import worker_ready, worker_shutting_down

from audit.events import system
from config.celery import send_ticket
from evaluation import claims, queries, services, worker
from evaluation.alerts import services as alerts
from evaluation.calls import services as calls
from evaluation.models import Episode
from evaluation.upstreams import services as upstreams

logger = structlog.get_logger(__name__)


@worker_ready.connect
def prove_isolation(sender: object, **kwargs: object) -> None:
    """A worker that touches vendor code or its leavings tests its sandbox before it takes the first ticket."""
    os.environ.setdefault("LINGEE_WORKER_NAME", str(getattr(sender, "hostname", "")).partition("@")[0])
    queues = {queue.name for queue in getattr(sender, "task_consumer").queues}  # noqa: B009
    for name in ("execute", "grade"):
        if name in queues:
            worker.hands(name)
            send_ticket(f"evaluation.tasks.{name}", queue=name)


@worker_shutting_down.connect
def leave(**kwargs: object) -> None:
    """SIGTERM: finish or hand back."""
    worker.leave()


@shared_task(name="evaluation.tasks.execute")
def execute() -> None:
    """Claim and run episodes until none is left."""
    hands = worker.hands("execute")
    if not hands.proved:
        return
    grade = _Reminder("evaluation.tasks.grade", "grade")
    if worker.work(worker.executor().run_one, hands.holding, patience=0.0, pause=grade.send):
        send_ticket("evaluation.tasks.execute", queue="execute")


class _Reminder:
    """Tells the graders about once a second that there may be work."""

    def __init__(self, task: str, queue: str) -> None:
        self._task, self._queue = task, queue

    def send(self) -> None:
        send_ticket(self._task, queue=self._queue)


@shared_task(name="evaluation.tasks.grade")
def grade() -> None:
    """Claim and grade executed episodes until none is left; move runs on."""
    hands = worker.hands("grade")
    if not hands.proved:
        return
    if worker.grade_in_all_slots(pause=settle):
        send_ticket("evaluation.tasks.grade", queue="grade")


def settle() -> None:
    """Move every open run on as far as its episodes allow."""
    for run_id in queries.open_run_ids():
        services.settle_run(run_id)


@shared_task(name="evaluation.tasks.sweep")
def sweep() -> None:
    """Free what lost workers held, move runs on, and wake workers for work whose ticket was lost."""
    freed = claims.reap(by=system("sweep"))
    if freed:
        logger.info("leases_reaped", episodes=freed)
    settle()
    upstreams.give_up_lost(by=system("sweep"))
    alerts.watch(by=system("sweep"))
    calls.review_stops(by=system("upstreams"))
    waiting = queries.waiting_states()
    if Episode.State.READY in waiting:
        send_ticket("evaluation.tasks.execute", queue="execute")
    if Episode.State.EXECUTED in waiting:
        send_ticket("evaluation.tasks.grade", queue="grade")


@shared_task(name="evaluation.tasks.try_upstream")
def try_upstream(trial_id: str) -> None:
    """Make a trial call that was asked for (queue `governance`: it opens a credential)."""
    upstreams.make_trial(UUID(trial_id), by=system("upstream-trial"))


@shared_task(name="evaluation.tasks.probe_upstream")
def probe_upstream(upstream_id: str) -> None:
    """Look whether an upstream that a worker doubts is down (queue `governance`: it opens a credential)."""
    calls.settle_doubt(UUID(upstream_id), by=system("upstreams"))
