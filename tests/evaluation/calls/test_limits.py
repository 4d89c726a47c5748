"""The shared gate on a real Redis: slots, rate, leases of the dead, an upstream that is left alone."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
import redis

from evaluation.calls import limits
from evaluation.calls.limits import Limits, SharedGate
from evaluation.gateway.contract import Dialect, Route, Stopped, Withheld


@pytest.fixture
def server(servers: Any) -> Iterator[redis.Redis]:
    from django.conf import settings

    made = redis.Redis.from_url(settings.REDIS_URL)
    yield made
    made.close()


def route() -> Route:
    return Route("main", "m", Dialect.OPENAI_CHAT, "http://x", "s", "c", upstream_id=uuid.uuid4().hex)


def gate(
    server: redis.Redis, *, concurrency: int = 2, per_minute: int = 100, stopped: bool = False
) -> SharedGate:
    return SharedGate(lambda upstream: Limits(concurrency, per_minute, stopped), lambda: server)


def test_no_more_at_once_than_the_upstream_takes_whichever_process_asks(server: redis.Redis) -> None:
    one, other, where, never = gate(server), gate(server), route(), threading.Event()
    inside, most, lock = 0, 0, threading.Lock()

    def call(through: SharedGate) -> None:
        nonlocal inside, most
        with through.enter(where, never):
            with lock:
                inside += 1
                most = max(most, inside)
            time.sleep(0.05)
            with lock:
                inside -= 1

    threads = [threading.Thread(target=call, args=(through,)) for through in (one, other) * 5]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert (inside, most) == (0, 2)


def test_a_call_that_waits_gives_up_when_its_gateway_closes(server: redis.Redis) -> None:
    full, where, over = gate(server, concurrency=1), route(), threading.Event()
    with full.enter(where, threading.Event()):
        threading.Timer(0.2, over.set).start()
        began = time.monotonic()
        with pytest.raises(Stopped), full.enter(where, over):
            pytest.fail("there is no second place")
        assert time.monotonic() - began < 5


def test_a_minutes_calls_are_counted_though_they_are_over(server: redis.Redis) -> None:
    slow, where, over = gate(server, per_minute=3), route(), threading.Event()
    for _ in range(3):
        with slow.enter(where, threading.Event()):
            pass
    threading.Timer(0.3, over.set).start()
    with pytest.raises(Stopped), slow.enter(where, over):
        pytest.fail("three a minute, and this is the fourth")


def test_the_slot_of_a_dead_process_comes_back(server: redis.Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "LEASE_SECONDS", 0.3)
    where, never = route(), threading.Event()
    dead = gate(server, concurrency=1)
    place = dead.enter(where, never)
    place.__enter__()
    dead._held.clear()  # nobody renews it any more
    with gate(server, concurrency=1).enter(where, never):
        pass


def test_an_upstream_that_is_left_alone_lets_nobody_in(server: redis.Redis) -> None:
    with pytest.raises(Withheld), gate(server, stopped=True).enter(route(), threading.Event()):
        pytest.fail("it is left alone")


def test_without_redis_nothing_is_called(monkeypatch: pytest.MonkeyPatch) -> None:
    nowhere = redis.Redis(host="127.0.0.1", port=1, socket_connect_timeout=0.2)
    over = threading.Event()
    threading.Timer(0.5, over.set).start()
    with pytest.raises(Stopped), gate(nowhere).enter(route(), over):
        pytest.fail("limits are unknown")
