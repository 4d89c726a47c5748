"""Celery entry points of evaluation. A message carries nothing but the news that there may be work."""

from __future__ import annotations

import os
from collections.abc import Callable
from uuid import UUID

import structlog
from celery import shared_task
from celery.signals import worker_ready, worker_shutting_down

from audit.events import system
from config.celery import send_ticket
from config.stepwise import Steps
from evaluation import claims, queries, services, worker
from evaluation.alerts import services as alerts
from evaluation.calls import services as calls
from evaluation.holding import Holding
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
    worker.work(_waking(worker.executor().run_one), hands.holding, patience=0.0, pause=grade.send)


def _waking(step: Callable[[Holding], bool]) -> Callable[[Holding], bool]:
    """The step, which sends one further ticket when it first finds work: so idle workers wake one after the other, and
    one ticket goes round as long as there is work. Where it finds none, the ticket ends with it."""
    told = False

    def found(holding: Holding) -> bool:
        nonlocal told
        has_work = step(holding)
        if has_work and not told:
            told = send_ticket("evaluation.tasks.execute", queue="execute")
        return has_work

    return found


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


def settle(steps: Steps | None = None) -> None:
    """Move every open run on as far as its episodes allow; one that cannot keeps no other waiting."""
    own = steps or Steps()
    for run_id in queries.open_run_ids():
        with own.each("settle", run_id):
            services.settle_run(run_id)
    if steps is None:
        own.end()


@shared_task(name="evaluation.tasks.sweep")
def sweep() -> None:
    """Free what lost workers held, move runs on, and wake workers for work whose ticket was lost."""
    steps = Steps()
    with steps.each("reap"):
        freed = claims.reap(by=system("sweep"))
        if freed:
            logger.info("leases_reaped", episodes=freed)
    settle(steps)
    with steps.each("trials"):
        upstreams.give_up_lost(by=system("sweep"))
    with steps.each("alerts"):
        alerts.watch(by=system("sweep"))
    with steps.each("upstreams"):
        calls.review_stops(by=system("upstreams"))
    waiting = queries.waiting_states()
    if Episode.State.READY in waiting:
        send_ticket("evaluation.tasks.execute", queue="execute")
    if Episode.State.EXECUTED in waiting:
        send_ticket("evaluation.tasks.grade", queue="grade")
    steps.end()


@shared_task(name="evaluation.tasks.try_upstream")
def try_upstream(trial_id: str) -> None:
    """Make a trial call that was asked for (queue `governance`: it opens a credential)."""
    upstreams.make_trial(UUID(trial_id), by=system("upstream-trial"))


@shared_task(name="evaluation.tasks.probe_upstream")
def probe_upstream(upstream_id: str) -> None:
    """Look whether an upstream that a worker doubts is down (queue `governance`: it opens a credential)."""
    calls.settle_doubt(UUID(upstream_id), by=system("upstreams"))
