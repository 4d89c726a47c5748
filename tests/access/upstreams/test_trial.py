"""One real small call to a server that speaks the dialect: what it sends, and the closed list of what comes of it."""

from __future__ import annotations

import socket
import time

import pytest

from evaluation.upstreams import probe
from evaluation.upstreams.models import Dialect, Outcome
from tests.access.upstreams.arranged import GOOD, SECRET, SNAPSHOT, Answers, serving


@pytest.fixture
def upstream(settings):
    settings.OUTGOING_LOOPBACK = True
    with serving() as script:
        yield script


def call(script: Answers, dialect: str = Dialect.OPENAI_CHAT, **changes: str) -> probe.Call:
    facts = {"dialect": dialect, "base_url": script.url, "snapshot": SNAPSHOT, "credential": SECRET}
    return probe.Call(**{**facts, **changes})


@pytest.mark.parametrize(
    ("dialect", "path", "header", "value"),
    [
        (Dialect.OPENAI_CHAT, "/v1/chat/completions", "Authorization", f"Bearer {SECRET}"),
        (Dialect.OPENAI_RESPONSES, "/v1/responses", "Authorization", f"Bearer {SECRET}"),
        (Dialect.ANTHROPIC_MESSAGES, "/v1/messages", "x-api-key", SECRET),
    ],
)
def test_each_dialect_is_spoken(upstream, dialect, path, header, value):
    upstream.answers(dialect)
    found = probe.try_out(call(upstream, dialect))
    assert found.outcome is Outcome.OK
    assert found.milliseconds is not None
    (asked,) = upstream.asked
    assert (asked["path"], asked["headers"][header]) == (path, value)
    assert asked["body"]["model"] == SNAPSHOT
    assert asked["headers"]["Host"] == f"127.0.0.1:{upstream.port}"


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        (401, Outcome.CREDENTIAL_REFUSED),
        (403, Outcome.CREDENTIAL_REFUSED),
        (404, Outcome.MODEL_UNKNOWN),
        (429, Outcome.RATE_LIMITED),
        (400, Outcome.REQUEST_REFUSED),
        (500, Outcome.UPSTREAM_FAILED),
        (503, Outcome.UPSTREAM_FAILED),
        (204, Outcome.NOT_THE_DIALECT),
    ],
)
def test_a_status_is_a_class(upstream, status, outcome):
    upstream.answers(Dialect.OPENAI_CHAT)
    upstream.status = status
    assert probe.try_out(call(upstream)).outcome is outcome


def test_a_redirect_is_not_followed(upstream):
    upstream.status, upstream.headers = 307, {"Location": f"{upstream.url}/elsewhere"}
    assert probe.try_out(call(upstream)).outcome is Outcome.REDIRECTED
    assert len(upstream.asked) == 1


@pytest.mark.parametrize("dialect", Dialect.values)
@pytest.mark.parametrize(
    "body", [b"", b"[]", b"null", b"<html>", b'{"model": "x"}', b"[" * 90_000, b"\xff\xfe"]
)
def test_what_is_not_the_dialect(upstream, dialect, body):
    upstream.body = body
    assert probe.try_out(call(upstream, dialect)).outcome is Outcome.NOT_THE_DIALECT


def test_an_answer_of_another_dialect_is_none(upstream):
    upstream.answers(Dialect.ANTHROPIC_MESSAGES)
    assert probe.try_out(call(upstream, Dialect.OPENAI_CHAT)).outcome is Outcome.NOT_THE_DIALECT


def test_another_model_is_told(upstream):
    upstream.answers(Dialect.OPENAI_CHAT, model="probe-model-mini")
    assert probe.try_out(call(upstream)).outcome is Outcome.OTHER_MODEL


def test_an_endless_answer_is_cut_off(upstream):
    upstream.body = b'{"choices": [' + b" " * (probe.ANSWER_BYTES + 1)
    assert probe.try_out(call(upstream)).outcome is Outcome.NOT_THE_DIALECT


def test_an_answer_byte_by_byte_does_not_outlast_the_limit(upstream):
    upstream.answers(Dialect.OPENAI_CHAT)
    upstream.drip = 0.2
    began = time.monotonic()
    assert probe.try_out(call(upstream), seconds=1.0).outcome is Outcome.TIMED_OUT
    assert time.monotonic() - began < 3


def test_nobody_there(upstream):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    found = probe.try_out(call(upstream, base_url=f"http://127.0.0.1:{port}/v1"))
    assert found.outcome is Outcome.UNREACHABLE


def test_addresses_are_looked_at_with_each_call(upstream, settings):
    """A name that was public when it was registered may lead inside later; nothing is sent there."""
    settings.OUTGOING_LOOPBACK = False
    upstream.answers(Dialect.OPENAI_CHAT)
    inside = lambda host, port: ["127.0.0.1"]  # noqa: E731
    found = probe.try_out(call(upstream, base_url="https://api.example.com/v1"), resolver=inside)
    assert (found.outcome, found.milliseconds) == (Outcome.ADDRESS_REFUSED, None)
    assert probe.try_out(call(upstream)).outcome is Outcome.ADDRESS_REFUSED
    assert upstream.asked == []


def test_proxies_of_the_environment_are_not_used(upstream, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    upstream.answers(Dialect.OPENAI_CHAT)
    assert probe.try_out(call(upstream)).outcome is Outcome.OK


def test_there_is_an_answer_for_each_dialect():
    assert set(GOOD) == set(Dialect.values)
