"""Rate and concurrency of upstreams, shared over all workers: held in Redis, lost with it and soon right again.

A slot is a lease that its process renews; those of a process that died are free again after `LEASE_SECONDS`.
"""

from __future__ import annotations

import contextlib
import random
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

import redis
import structlog
from django.conf import settings

from config.ids import opaque_id
from evaluation.gateway.contract import Route, Stopped, Withheld

logger = structlog.get_logger(__name__)

LEASE_SECONDS = 60.0
WINDOW_SECONDS = 60.0
LOOK_SECONDS = (0.05, 0.4)
"""Between two looks of a call that waits, at random, so that no worker is always the first."""
LOOK_AGAIN_SECONDS = 2.0
"""How long a look at an upstream's row holds: whether it is left alone, and its limits."""

ENTER = """
local slots, recent, time = KEYS[1], KEYS[2], redis.call('TIME')
local now = time[1] + time[2] / 1000000
redis.call('ZREMRANGEBYSCORE', slots, '-inf', now)
redis.call('ZREMRANGEBYSCORE', recent, '-inf', now - tonumber(ARGV[4]))
if redis.call('ZCARD', slots) >= tonumber(ARGV[1]) then return 0 end
if redis.call('ZCARD', recent) >= tonumber(ARGV[2]) then return 0 end
redis.call('ZADD', slots, now + tonumber(ARGV[3]), ARGV[5])
redis.call('ZADD', recent, now, ARGV[5])
redis.call('PEXPIRE', slots, 2000 * tonumber(ARGV[3]))
redis.call('PEXPIRE', recent, 2000 * tonumber(ARGV[4]))
return 1
"""
"""Take a slot if one is free and fewer than the allowed number of calls began within the window. One step for Redis,
by its clock."""
RENEW = """
local time = redis.call('TIME')
return redis.call('ZADD', KEYS[1], 'XX', time[1] + time[2] / 1000000 + tonumber(ARGV[1]), ARGV[2])
"""


@dataclass(frozen=True)
class Limits:
    """Of one upstream: calls at once, and calls begun within a minute; `stopped` where it is left alone."""

    concurrency: int
    per_minute: int
    stopped: bool


@lru_cache(maxsize=1)
def _server() -> redis.Redis:
    return redis.Redis.from_url(settings.REDIS_URL, socket_timeout=5.0, socket_connect_timeout=2.0)


class SharedGate:
    """The gate of one worker process. `limits_of` reads an upstream's row by its id."""

    def __init__(
        self, limits_of: Callable[[str], Limits], server: Callable[[], redis.Redis] = _server
    ) -> None:
        self._limits_of = limits_of
        self._server = server
        self._held: dict[str, str] = {}
        self._lock = threading.Lock()
        self._known: dict[str, tuple[float, Limits]] = {}
        self._renewing: threading.Thread | None = None

    @contextlib.contextmanager
    def enter(self, route: Route, stopped: threading.Event, apart: str = "") -> Iterator[None]:
        """Hold one slot of the route's upstream; waits for it. Raises Withheld, Stopped.

        `apart` names a sort of runs with places of its own, half of the limits (at least one): where places were
        shared, a harness on held-out tasks could speak by its waits to one whose output its vendor reads.
        """
        token = opaque_id().hex
        place = f"{route.upstream_id}:{apart}" if apart else route.upstream_id
        while not self._take(route.upstream_id, place, token, halved=bool(apart)):
            if stopped.wait(random.uniform(*LOOK_SECONDS)):  # noqa: S311 - no secret
                raise Stopped
        self._keep(token, place)
        try:
            yield
        finally:
            self._give_back(token)

    def _take(self, upstream: str, place: str, token: str, *, halved: bool) -> bool:
        limits = self._limits(upstream)
        if limits.stopped:
            raise Withheld
        slots, recent = _keys(place)
        share = 2 if halved else 1
        values: list[str | float] = [
            max(1, limits.concurrency // share),
            max(1, limits.per_minute // share),
            *(LEASE_SECONDS, WINDOW_SECONDS, token),
        ]
        try:
            return bool(self._server().eval(ENTER, 2, slots, recent, *values))
        except redis.RedisError as error:
            logger.warning("gate_out_of_reach", error=type(error).__name__)
            return False

    def _limits(self, upstream: str) -> Limits:
        now = time.monotonic()
        found = self._known.get(upstream)
        if found is None or now - found[0] > LOOK_AGAIN_SECONDS:
            found = self._known[upstream] = (now, self._limits_of(upstream))
        return found[1]

    def _keep(self, token: str, upstream: str) -> None:
        with self._lock:
            self._held[token] = upstream
            if self._renewing is None:
                self._renewing = threading.Thread(target=self._renew, name="gate", daemon=True)
                self._renewing.start()

    def _give_back(self, token: str) -> None:
        with self._lock:
            upstream = self._held.pop(token, "")
        with contextlib.suppress(redis.RedisError):  # then the lease ends by itself
            self._server().zrem(_keys(upstream)[0], token)

    def _renew(self) -> None:
        while True:
            time.sleep(LEASE_SECONDS / 3)
            with self._lock:
                held = dict(self._held)
            for token, upstream in held.items():
                with contextlib.suppress(redis.RedisError):
                    self._server().eval(RENEW, 1, _keys(upstream)[0], LEASE_SECONDS, token)


def _keys(upstream: str) -> tuple[str, str]:
    return f"upstream:{upstream}:slots", f"upstream:{upstream}:recent"
