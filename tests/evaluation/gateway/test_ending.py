"""How calls end that nobody waits for any more: the harness has gone, or the gateway is closed."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest

from evaluation.gateway.contract import Dialect, Outcome, Route
from tests.evaluation.gateway.answers import chat_events, message_events, response_events, whole
from tests.evaluation.gateway.parts import (
    CHAT,
    DIALECTS,
    KEY,
    MESSAGES,
    PATHS,
    RESPONSES,
    SHORT,
    gateway,
    request,
)
from tests.evaluation.gateway.scripted import Answer, stream
from tests.evaluation.gateway.test_clock import ClosedGate

STREAMS = {
    CHAT: chat_events({"prompt_tokens": 11, "completion_tokens": 22}),
    RESPONSES: response_events({"input_tokens": 11, "output_tokens": 22}),
    MESSAGES: message_events({"input_tokens": 11, "output_tokens": 1}, {"output_tokens": 22}),
}
HARNESS = """
import socket, sys
with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as sock:
    sock.sendall(sys.stdin.buffer.read())
    sock.recv(65536)
    print("answered", flush=True)
    while sock.recv(65536):
        pass
"""


def _bytes(dialect: Dialect) -> bytes:
    body = json.dumps(request(dialect, stream=True)).encode()
    lines = f"POST {PATHS[dialect]} HTTP/1.1\r\nHost: x\r\nx-api-key: {KEY}\r\nContent-Length: {len(body)}\r\n\r\n"
    return lines.encode() + body


@contextlib.contextmanager
def _harness(port: int, dialect: Dialect) -> Iterator[subprocess.Popen[bytes]]:
    """A process that calls the model, and has read the beginning of the answer."""
    process = subprocess.Popen(
        [sys.executable, "-c", HARNESS, str(port)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdin
    assert process.stdout
    process.stdin.write(_bytes(dialect))
    process.stdin.close()
    assert process.stdout.readline() == b"answered\n"
    yield process
    process.kill()
    process.wait()
    process.stdout.close()


@pytest.mark.case("H27")
@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_harness_killed_in_mid_stream_leaves_the_providers_usage(dialect: Dialect):
    go_on = threading.Event()
    with gateway(dialect, stream(*STREAMS[dialect], after=go_on)) as setting:
        with _harness(setting.place[1], dialect) as harness:
            os.kill(harness.pid, signal.SIGKILL)
            harness.wait()
            go_on.set()
            setting.gateway.close(grace=20)
        (record,) = setting.lines.ended
        assert setting.gateway.used.tokens == 33
    assert (record.usage.input_tokens, record.usage.output_tokens) == (11, 22)
    assert (record.outcome, record.client_left, record.cut_off) == (Outcome.OK, True, False)


@pytest.mark.case("H27")
@pytest.mark.parametrize("dialect", DIALECTS)
def test_where_the_rest_never_comes_usage_is_incomplete_and_never_zero(dialect: Dialect):
    go_on = threading.Event()
    answer = stream(*STREAMS[dialect][:3], end="hang", after=go_on)
    with gateway(dialect, answer, patience=replace(SHORT, drain=0.3)) as setting:
        with _harness(setting.place[1], dialect) as harness:
            os.kill(harness.pid, signal.SIGKILL)
            harness.wait()
            go_on.set()
            setting.gateway.close(grace=20)
        (record,) = setting.lines.ended
        used = setting.gateway.used
    assert record.usage.output_tokens is None
    assert record.usage.input_tokens == (11 if dialect is MESSAGES else None)
    assert (record.outcome, record.incomplete, record.cut_off) == (Outcome.TIMED_OUT, True, True)
    assert used.estimated
    assert used.tokens > 0


@pytest.mark.case("H27")
def test_closing_at_once_leaves_a_line_that_says_so():
    with gateway(CHAT, stream(*STREAMS[CHAT][:2], end="hang")) as setting:
        with _harness(setting.place[1], CHAT):
            setting.gateway.close()
        (record,) = setting.lines.ended
    assert (record.outcome, record.incomplete, record.cut_off) == (Outcome.STOPPED, True, True)
    assert record.usage.output_tokens is None


HANGING = {
    "no head yet": Answer(end="hang", pieces=()),
    "whole answer half there": Answer(pieces=(b"{",), end="hang"),
    "stream": stream(*STREAMS[CHAT][:2], end="hang"),
}


@pytest.mark.serial
@pytest.mark.parametrize("name", HANGING)
def test_closing_ends_calls_in_progress_at_once_and_leaves_nothing(name: str):
    descriptors, threads = _descriptors(), _threads()
    with gateway(CHAT, HANGING[name]) as setting:
        _close_in_mid_call(setting, stream=name == "stream")
        assert [record.outcome for record in setting.lines.ended] == [Outcome.STOPPED]
    assert (_descriptors(), _threads()) == (descriptors, threads)


def _close_in_mid_call(setting, **fields) -> None:
    calls = [threading.Thread(target=_swallow, args=(setting, fields))]
    calls += [threading.Thread(target=_swallow, args=(setting, {"model": "unlisted"}))]
    for call in calls:
        call.start()
    assert setting.upstream.script.taken.acquire(timeout=20)
    begun = time.monotonic()
    setting.gateway.close()
    assert time.monotonic() - begun < 5  # one second is what is promised
    for call in calls:
        call.join(20)
        assert not call.is_alive()


def _swallow(setting, fields) -> None:
    with contextlib.suppress(Exception):
        setting.ask(CHAT, **fields)


def _descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def _threads() -> list[str]:
    return sorted(thread.name for thread in threading.enumerate() if thread.name.startswith("gateway"))


@pytest.mark.serial
def test_closing_ends_what_waits_in_the_queue_and_between_attempts():
    gate = ClosedGate()
    with gateway(CHAT, whole(CHAT, None), gate=gate) as setting:
        call = threading.Thread(target=_swallow, args=(setting, {}))
        call.start()
        assert gate.waits.acquire(timeout=20)
        begun = time.monotonic()
        setting.gateway.close()
        assert time.monotonic() - begun < 5
        call.join(20)
        assert setting.lines.started == []
        assert setting.watch.told == ["hold", "release"]
    patience = replace(SHORT, backoff=60, longest_wait=60)
    with gateway(CHAT, Answer(status=503), patience=patience) as setting:
        call = threading.Thread(target=_swallow, args=(setting, {}))
        call.start()
        while not setting.lines.ended:
            time.sleep(0.01)
        begun = time.monotonic()
        setting.gateway.close()
        assert time.monotonic() - begun < 5
        call.join(20)
    assert len(setting.lines.ended) == 1


@pytest.mark.serial
def test_closing_ends_a_connection_that_is_still_being_made():
    """A listener whose queue is full answers no further call: connecting hangs."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as full:
        place = full.getsockname()
        fillers = []
        for _ in range(4):
            filler = socket.socket()
            filler.setblocking(False)
            filler.connect_ex(place)
            fillers.append(filler)
        time.sleep(0.1)
        patience = replace(SHORT, connect=60, total=60)
        base = f"http://127.0.0.1:{place[1]}/v1"
        elsewhere = Route("main", "main-model", CHAT, base, "snap-1", "c")
        with gateway(CHAT, whole(CHAT, None), patience=patience, routes=[elsewhere]) as setting:
            call = threading.Thread(target=_swallow, args=(setting, {}))
            call.start()
            while not setting.lines.started:
                time.sleep(0.01)
            call.join(0.3)
            begun = time.monotonic()
            setting.gateway.close()
            assert time.monotonic() - begun < 5
            call.join(20)
            assert [record.outcome for record in setting.lines.ended] == [Outcome.STOPPED]
        for filler in fillers:
            filler.close()


def test_a_harness_that_takes_nothing_is_given_up_and_its_usage_is_known():
    """It asks, and never reads: the answer is larger than any buffer between."""
    chunk = json.loads(json.dumps(STREAMS[CHAT][0]))
    chunk["choices"][0]["delta"]["content"] = "x" * 1_000_000
    big = stream(*[chunk] * 12, *STREAMS[CHAT][1:])
    with gateway(CHAT, big, patience=replace(SHORT, write=0.3)) as setting:
        with socket.create_connection(setting.place, timeout=30) as sock:
            sock.sendall(_bytes(CHAT))
            while not setting.lines.ended:
                time.sleep(0.02)
        (record,) = setting.lines.ended
    assert (record.client_left, record.outcome) == (True, Outcome.OK)
    assert (record.usage.input_tokens, record.usage.output_tokens) == (11, 22)


def test_a_listener_can_be_closed_and_another_served_with_the_same_budget():
    with gateway(CHAT, whole(CHAT, None)) as setting:
        setting.ask(CHAT)
        listener = socket.create_server(("127.0.0.1", 0))
        second = setting.gateway.serve(listener)
        setting.place = listener.getsockname()
        assert setting.ask(CHAT).status_code == 200
        second.close()
        assert listener.fileno() == -1
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(setting.place, timeout=5)
        assert setting.gateway.used.steps == 2
