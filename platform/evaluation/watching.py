"""The threads that watch over what a worker holds: leases are renewed, and what must not go on is stopped.

An episode is killed within seconds of its claim being void: cancelled, set apart, or taken for lost. A worker that is
cut off from the database kills it by its own clock before the lease ends, so that no two attempts ever run at once.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import structlog
from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection

from config import clock
from evaluation import claims
from evaluation.fleet.models import FleetOrder
from evaluation.fleet.queries import orders_on
from evaluation.holding import Hold, Holding, Stop
from evaluation.models import WorkerReport

logger = structlog.get_logger(__name__)

LOOK_SECONDS = 1.0
"""Between two looks at whether what is held is still ours."""
KILL_SHARE = 0.8
"""Of a lease: after that without renewal a worker kills what it holds. The rest is for the killing."""


class Watch:
    """Two threads: one asks the database, with a connection of its own; the other looks at the clock and waits for
    nobody, so that it also acts while a question hangs."""

    def __init__(self, worker: str, host: str, holding: Holding, when_idle: Callable[[], None]) -> None:
        self._worker, self._host, self._holding, self._when_idle = worker, host, holding, when_idle
        self._renewed = 0.0
        for name, step in (("heartbeat", self._ask), ("deadline", self._look_at_clock)):
            threading.Thread(target=self._repeat, args=(step,), name=name, daemon=True).start()

    def _repeat(self, step: Callable[[], None]) -> None:
        while True:
            time.sleep(min(LOOK_SECONDS, settings.LEASE_SECONDS / 3))
            try:
                step()
            except (DatabaseError, InterfaceError) as error:
                logger.warning("heartbeat_failed", error=type(error).__name__)
                connection.close()
            except Exception as error:  # noqa: BLE001 - without this thread nothing is renewed any more
                logger.error("heartbeat_failed", error=type(error).__name__)

    def _ask(self) -> None:
        holds = self._holding.all()
        if time.monotonic() - self._renewed >= settings.LEASE_SECONDS / 3:
            self._renew(holds)
        elif holds:
            self._stop_void(holds)

    def _renew(self, holds: list[Hold]) -> None:
        """Three times within a lease, with a sign of life."""
        asked = time.monotonic()
        held = claims.renew([hold.claim for hold in holds])
        self._stop_void(holds, held)
        for hold in holds:
            hold.good_since = asked
        WorkerReport.objects.filter(worker=self._worker).update(seen_at=clock.now())
        self._renewed = asked
        if not self._holding.all():
            self._when_idle()

    def _stop_void(self, holds: list[Hold], held: set[int] | None = None) -> None:
        if not holds:
            return
        still = claims.still_held([hold.claim for hold in holds]) if held is None else held
        apart = orders_on(self._worker, self._host).filter(kind=FleetOrder.Kind.QUARANTINE).exists()
        for hold in holds:
            if hold.claim.episode_id not in still:
                hold.stop(Stop.LOST)
            elif apart:
                hold.stop(Stop.HAND_BACK)

    def _look_at_clock(self) -> None:
        now, since = time.monotonic(), self._holding.leaving_since
        for hold in self._holding.all():
            if now - hold.good_since > KILL_SHARE * settings.LEASE_SECONDS:
                hold.stop(Stop.LOST)
            elif since is not None and now - since > settings.DRAIN_SECONDS:
                hold.stop(Stop.HAND_BACK)
