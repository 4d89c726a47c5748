"""A worker process: its name, its private folder, the proof of its isolation, its heartbeat, and its loop."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path

import structlog
from django.conf import settings
from django.db import DatabaseError, InterfaceError, close_old_connections, connection

from config import clock, store
from config.ids import opaque_id
from evaluation.claims import EVERY_KIND
from evaluation.executing import Executor, Host
from evaluation.grading import Grader
from evaluation.holding import Holding
from evaluation.hosts import policies
from evaluation.hosts import services as hosts
from evaluation.models import EvaluationRun, WorkerReport
from evaluation.places import clear_left, take_place
from evaluation.sandbox import backends, selftest
from evaluation.watching import Watch

logger = structlog.get_logger(__name__)

TURN_SECONDS = 20.0
"""How long one ticket keeps a worker; after that it sends itself another and lets the queue breathe."""
GRADE_SLOTS = min(4, os.cpu_count() or 1)
"""Gradings at a time in one grade worker."""
LOOK_SECONDS = (0.1, 1.0)
"""Between two looks of an idle worker for the next episode: at first, and at most; each wait is twice the last."""
IDLE_SECONDS = 2.0
"""How long a grade worker waits for the next executed episode before it gives its ticket back."""


class Hands:
    """What one worker process holds for its life."""

    def __init__(self, queue: str) -> None:
        name = os.environ.get("LINGEE_WORKER_NAME") or socket.gethostname()
        self.name = f"{name}-{opaque_id().hex[:8]}"[-64:]
        self.queue = queue
        self.host = (os.environ.get("LINGEE_HOST_NAME") or socket.gethostname())[:64]
        self.holding = Holding()
        root = Path(settings.WORK_DIR)
        clear_left(root)
        self.place = take_place(root)
        self.sandbox = backends.default_backend()
        self.report = selftest.run(self.sandbox.copies)
        self._measured = False
        self._know_host(settings.SPEED_WAIT_SECONDS if policies.reference() else 0.0)
        store.client()  # costs 0.2 s of processor time, and each of several threads would make one at first use
        self._record()
        Watch(self.name, self.host, self.holding, self._when_idle)

    @property
    def proved(self) -> bool:
        """Whether every required limit was shown to bite; without that no vendor code runs here."""
        return self.report.fit

    def _know_host(self, patience: float) -> None:
        """What the stored speed of this host admits; measured first, if it comes to rest within `patience` seconds."""
        known = hosts.know_host(self.host, self.place, patience)
        self._measured = known is not None
        self.speed = policies.class_of(known, policies.reference())
        self.refusals = policies.refusals(fit=self.report.fit, speed=self.speed)

    def conditions(self) -> Host:
        """What stands on each attempt of this worker, and what it may claim now."""
        kinds = EVERY_KIND
        if self.refusals:
            kinds = tuple(kind for kind in kinds if kind != EvaluationRun.Kind.HELD_OUT)
        return Host(self.host, self.speed.value, kinds)

    def _record(self) -> None:
        now = clock.now()
        WorkerReport.objects.update_or_create(
            worker=self.name,
            defaults={
                "queue": self.queue,
                "host": self.host,
                "grade": self.report.grade[:64],
                "passed": self.report.fit,
                "report": self.report.as_json(),
                "speed_class": self.speed.value,
                "refusals": [refusal.value for refusal in self.refusals],
                "started_at": now,
                "seen_at": now,
            },
        )
        if not self.report.fit:
            logger.error("self_test_failed", worker=self.name)

    def _when_idle(self) -> None:
        """A host that was too busy to be measured is measured when it has nothing to do."""
        if not self._measured:
            self._know_host(0.0)
            self._record()


_made: list[Hands] = []


@lru_cache(maxsize=1)
def hands(queue: str) -> Hands:
    _made.append(Hands(queue))
    return _made[-1]


@lru_cache(maxsize=1)
def executor() -> Executor:
    mine = hands("execute")
    return Executor(mine.name, mine.place, mine.sandbox, mine.conditions)


@lru_cache(maxsize=1)
def grader() -> Grader:
    mine = hands("grade")
    return Grader(mine.name, mine.place, mine.sandbox, mine.sandbox.copies.digest, mine.host)


@lru_cache(maxsize=1)
def _threads() -> ThreadPoolExecutor:
    """Kept for the life of the process, so that each thread keeps its database connection."""
    return ThreadPoolExecutor(GRADE_SLOTS, thread_name_prefix="grade")


def grade_in_all_slots(pause: Callable[[], None]) -> bool:
    """Grade in `GRADE_SLOTS` threads until nothing is left or the turn is over; True in the latter case.

    The work is done in sandboxes, so threads suffice to use every core once execution is through.
    """
    mine, grading = hands("grade"), grader()

    def slot(number: int) -> bool:
        close_old_connections()
        own_pause = pause if number == 0 else _nothing
        try:
            return work(grading.grade_one, mine.holding, patience=IDLE_SECONDS, pause=own_pause)
        except (DatabaseError, InterfaceError):
            connection.close()  # the thread stays, and its broken connection must not stay with it
            raise

    return any(list(_threads().map(slot, range(GRADE_SLOTS))))


def _nothing() -> None:
    """Only one of the slots looks after runs."""


def leave() -> None:
    """The process was asked to end: nothing more is claimed, and what is held is finished within `DRAIN_SECONDS` or
    given to others. Called from a handler of signals."""
    for found in _made:
        found.holding.leave()


def work(
    step: Callable[[Holding], bool], holding: Holding, *, patience: float, pause: Callable[[], None]
) -> bool:
    """Repeat `step` until nothing was to be had for `patience` seconds, the turn is over, or the worker leaves.

    `pause` runs about once a second, where work runs out, and at the end. True where the turn ended with work left.
    """
    started = last_work = last_pause = time.monotonic()
    idle, wait = False, LOOK_SECONDS[0]
    while time.monotonic() - started < TURN_SECONDS and not holding.leaving:
        if step(holding):
            last_work, idle, wait = time.monotonic(), False, LOOK_SECONDS[0]
        elif not idle:
            idle, last_pause = True, time.monotonic()
            pause()
        elif time.monotonic() - last_work >= patience:
            pause()
            return False
        else:
            time.sleep(wait)
            wait = min(2 * wait, LOOK_SECONDS[1])
        if time.monotonic() - last_pause >= 1.0:
            last_pause = time.monotonic()
            pause()
    pause()
    return True
