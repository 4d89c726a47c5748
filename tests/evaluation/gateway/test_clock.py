"""The harness's clock stands while the platform lets its calls wait, and only then."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from evaluation.gateway.contract import Route, Stopped, Withheld
from evaluation.gateway.standing import Standing
from tests.evaluation.gateway.answers import chat_events, whole
from tests.evaluation.gateway.parts import CHAT, Watch, gateway
from tests.evaluation.gateway.scripted import Answer, stream


class ClosedGate:
    """Lets nobody in until it is opened; the first `free` pass."""

    def __init__(self, free: int = 0) -> None:
        self.free = free
        self.opened = threading.Event()
        self.waits = threading.Semaphore(0)

    @contextmanager
    def enter(self, route: Route, stopped: threading.Event) -> Iterator[None]:
        self.free -= 1
        if self.free < 0:
            self.waits.release()
            while not self.opened.wait(0.02):
                if stopped.is_set():
                    raise Stopped
        yield


def test_it_stands_in_the_queue_and_goes_on_while_the_model_answers():
    gate, go_on = ClosedGate(), threading.Event()
    with gateway(CHAT, stream(*chat_events(None), after=go_on), gate=gate) as setting:
        call = threading.Thread(target=setting.ask_to_the_end, args=(CHAT,), kwargs={"stream": True})
        call.start()
        assert gate.waits.acquire(timeout=20)
        assert setting.watch.told == ["hold"]
        call.join(0.1)
        gate.opened.set()
        assert setting.upstream.script.taken.acquire(timeout=20)
        assert setting.watch.told == ["hold", "release"]
        go_on.set()
        call.join()
        assert setting.watch.told == ["hold", "release"]
        assert setting.lines.ended[0].queued_milliseconds >= 100


def test_one_call_that_is_answered_keeps_it_going_for_all():
    gate, go_on = ClosedGate(free=1), threading.Event()
    with gateway(CHAT, stream(*chat_events(None), after=go_on), whole(CHAT, None), gate=gate) as setting:
        threads = [threading.Thread(target=setting.ask_to_the_end, args=(CHAT,), kwargs={"stream": True})]
        threads[0].start()
        assert setting.upstream.script.taken.acquire(timeout=20)
        before = list(setting.watch.told)
        threads.append(threading.Thread(target=setting.ask, args=(CHAT,)))
        threads[1].start()
        assert gate.waits.acquire(timeout=20)
        assert setting.watch.told == before  # the second waits, the first is being answered
        go_on.set()
        threads[0].join()
        assert setting.watch.told[len(before) :] == ["hold"]
        gate.opened.set()
        threads[1].join()
        assert setting.watch.told[len(before) :] == ["hold", "release"]


def test_it_stands_between_attempts():
    with gateway(CHAT, Answer(status=503), whole(CHAT, None)) as setting:
        setting.ask(CHAT)
    told = setting.watch.told
    assert told == ["hold", "release"] * 3  # gate, pause, gate


def test_a_call_that_the_platform_withholds_is_refused_and_the_clock_goes_on():
    class Paused:
        @contextmanager
        def enter(self, route: Route, stopped: threading.Event) -> Iterator[None]:
            raise Withheld
            yield

    with gateway(CHAT, whole(CHAT, None), gate=Paused()) as setting:
        answer = setting.ask(CHAT)
        assert (answer.status_code, answer.json()["error"]["code"]) == (503, "upstream_paused")
        assert (setting.upstream.asked, setting.lines.started) == ([], [])
        assert setting.watch.told == ["hold", "release"]


def test_whatever_the_order_holds_and_releases_take_turns():
    watch = Watch()
    standing = Standing(watch)
    standing.begin()
    with standing.waiting():
        standing.begin()
        assert watch.told == ["hold", "release"]
        with standing.waiting():
            assert watch.told[-1] == "hold"
        assert watch.told[-1] == "release"
        standing.end()
        assert watch.told[-1] == "hold"
    standing.end()
    assert watch.told == ["hold", "release"] * 3


def test_a_gate_that_fails_is_the_platforms_fault():
    class Broken:
        def enter(self, route: Route, stopped: threading.Event) -> object:
            raise ConnectionError("no Redis at 10.0.0.7")

    with gateway(CHAT, whole(CHAT, None), gate=Broken()) as setting:
        answer = setting.ask(CHAT)
        assert (answer.status_code, "10.0.0.7" in answer.text) == (500, False)
        assert setting.gateway.fault == "platform"
        assert setting.watch.told == ["hold", "release"]


@pytest.mark.parametrize("dialect", [CHAT])
def test_nothing_is_told_where_nothing_waits(dialect):
    with gateway(dialect, whole(dialect, None)) as setting:
        setting.ask(dialect, model="unlisted")
        assert setting.watch.told == []
