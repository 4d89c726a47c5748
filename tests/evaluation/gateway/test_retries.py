"""Further attempts: by the family of the fault, each with its line, and never once a byte of an answer went out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from evaluation.gateway.contract import AddressBarred, Dialect, Outcome, Usage
from tests.evaluation.gateway.answers import chat_events, message_events, response_events, whole
from tests.evaluation.gateway.parts import (
    CHAT,
    CREDENTIAL,
    DIALECTS,
    MESSAGES,
    RESPONSES,
    SHORT,
    events,
    gateway,
)
from tests.evaluation.gateway.scripted import Answer, plain, stream

MARK = "provider-text-org-1234"


def _error(status: int, **headers: str) -> Answer:
    body = {"error": {"message": MARK, "type": MARK, "code": MARK, "param": MARK}}
    return plain(body, status, headers=tuple(headers.items()))


GOOD = {CHAT: {"prompt_tokens": 5, "completion_tokens": 2}}
GOOD[RESPONSES] = GOOD[MESSAGES] = {"input_tokens": 5, "output_tokens": 2}


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504, 529])
def test_a_fault_that_passes_costs_the_harness_nothing(dialect: Dialect, status: int):
    with gateway(dialect, _error(status), _error(status), whole(dialect, GOOD[dialect])) as setting:
        assert setting.ask(dialect).status_code == 200
        assert [record.status for record in setting.lines.ended] == [status, status, 200]
        assert [(call.number, call.attempt) for call in setting.lines.started] == [(1, 1), (1, 2), (1, 3)]
        assert all(record.usage == Usage() and not record.incomplete for record in setting.lines.ended[:2])
        assert setting.gateway.used.steps == 1
        assert setting.gateway.used.tokens == 7
        assert setting.outages == []


@pytest.mark.parametrize(
    ("status", "outcome"),
    [(500, Outcome.UPSTREAM_FAILED), (429, Outcome.RATE_LIMITED), (529, Outcome.UPSTREAM_FAILED)],
)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_after_the_last_attempt_the_platform_is_told_and_the_harness_gets_a_closed_error(
    dialect: Dialect, status: int, outcome: Outcome
):
    with gateway(dialect, _error(status)) as setting:
        answer = setting.ask(dialect)
        assert [record.outcome for record in setting.lines.ended] == [outcome] * (SHORT.retries + 1)
        assert [route.name for route in setting.outages] == ["main-model"]
        assert setting.gateway.fault is None
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "upstream_unavailable")
    assert MARK not in answer.text
    assert CREDENTIAL not in answer.text


@pytest.mark.parametrize(
    ("status", "outcome", "seen", "code"),
    [
        (400, Outcome.REQUEST_REFUSED, 400, "upstream_refused"),
        (404, Outcome.REQUEST_REFUSED, 400, "upstream_refused"),
        (413, Outcome.REQUEST_REFUSED, 400, "upstream_refused"),
        (422, Outcome.REQUEST_REFUSED, 400, "upstream_refused"),
        (401, Outcome.CREDENTIAL_REFUSED, 503, "upstream_unavailable"),
        (403, Outcome.CREDENTIAL_REFUSED, 503, "upstream_unavailable"),
        (302, Outcome.NOT_THE_DIALECT, 502, "upstream_invalid"),
        (204, Outcome.NOT_THE_DIALECT, 502, "upstream_invalid"),
    ],
)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_what_would_fail_again_is_not_tried_again(
    dialect: Dialect, status: int, outcome: Outcome, seen: int, code: str
):
    answer = _error(status, Location="http://127.0.0.1:1/elsewhere") if status != 204 else Answer(status)
    with gateway(dialect, answer) as setting:
        found = setting.ask(dialect)
        (record,) = setting.lines.ended
        assert (record.outcome, record.status) == (outcome, status)
        assert bool(setting.outages) is (outcome is Outcome.CREDENTIAL_REFUSED)
        assert len(setting.upstream.asked) == 1
    assert (found.status_code, found.json()["error"]["code"]) == (seen, code)
    assert MARK not in found.text


def test_a_context_that_is_too_long_is_told_by_its_code_alone():
    body = {"error": {"code": "context_length_exceeded", "message": MARK}}
    with gateway(CHAT, plain(body, 400)) as setting:
        answer = setting.ask(CHAT)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "context_too_long")
    assert MARK not in answer.text


def test_a_connection_that_is_refused_or_reset_is_tried_again():
    with gateway(CHAT, Answer(end="reset"), whole(CHAT, None)) as setting:
        assert setting.ask(CHAT).status_code == 200
        assert [record.outcome for record in setting.lines.ended] == [Outcome.CUT_OFF, Outcome.OK]
        assert setting.lines.ended[0].incomplete  # it may have been answered, and paid for
    with gateway(CHAT, whole(CHAT, None)) as setting:
        setting.upstream.close()
        assert setting.ask(CHAT).status_code == 503
        assert {record.outcome for record in setting.lines.ended} == {Outcome.UNREACHABLE}
        assert not any(record.incomplete for record in setting.lines.ended)
        assert setting.gateway.used.tokens == 0


def test_what_takes_too_long_is_not_asked_again():
    patience = replace(SHORT, read=0.4)
    with gateway(CHAT, Answer(pieces=(b"{",), end="hang"), patience=patience) as setting:
        answer = setting.ask(CHAT)
        (record,) = setting.lines.ended
        assert (record.outcome, record.incomplete) == (Outcome.TIMED_OUT, True)
        assert len(setting.outages) == 1
    assert (answer.status_code, answer.json()["error"]["code"]) == (504, "upstream_timed_out")


def test_an_answer_that_drips_for_ever_has_an_end():
    patience = replace(SHORT, read=10, total=0.6)
    with gateway(CHAT, stream(*chat_events(None)[:1], end="hang"), patience=patience) as setting:
        setting.ask_to_the_end(CHAT, stream=True)
        (record,) = setting.lines.ended
    assert (record.outcome, record.cut_off, record.incomplete) == (Outcome.TIMED_OUT, True, True)


def test_the_upstreams_own_waiting_time_is_kept_up_to_a_bound():
    with gateway(CHAT, _error(429, **{"Retry-After": "3600"}), whole(CHAT, None)) as setting:
        assert setting.ask(CHAT).status_code == 200
        first, second = setting.lines.ended
    assert first.retry_milliseconds == 0
    assert SHORT.longest_wait * 1000 <= second.retry_milliseconds < 30_000
    assert setting.watch.told == ["hold", "release"] * (len(setting.watch.told) // 2)


STREAMS = {
    CHAT: chat_events(None),
    RESPONSES: response_events(None),
    MESSAGES: message_events(None, None),
}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_once_the_harness_has_a_byte_nothing_is_tried_again(dialect: Dialect):
    with gateway(dialect, stream(*STREAMS[dialect][:2], end="cut"), whole(dialect, None)) as setting:
        text = setting.ask_to_the_end(dialect, stream=True).decode()
        assert [record.outcome for record in setting.lines.ended] == [Outcome.CUT_OFF]
    assert "upstream_unavailable" in text.split("\n\n")[-2]
    assert len(events(text)) == 3


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_stream_that_breaks_before_its_first_event_is_tried_again(dialect: Dialect):
    broken, good = Answer(media="text/event-stream", end="cut"), stream(*STREAMS[dialect])
    with gateway(dialect, broken, good) as setting:
        setting.ask_to_the_end(dialect, stream=True)
        assert [record.outcome for record in setting.lines.ended] == [Outcome.CUT_OFF, Outcome.OK]


ERRORS: dict[Dialect, Any] = {
    CHAT: {"error": {"message": MARK, "code": MARK}},
    RESPONSES: {"type": "response.failed", "response": {"model": "snap-1", "error": {"message": MARK}}},
    MESSAGES: {"type": "error", "error": {"type": "overloaded_error", "message": MARK}},
}


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("before", [0, 2])
def test_an_error_within_a_stream_is_replaced(dialect: Dialect, before: int):
    bad = stream(*STREAMS[dialect][:before], ERRORS[dialect])
    with gateway(dialect, bad, stream(*STREAMS[dialect])) as setting:
        text = setting.ask_to_the_end(dialect, stream=True).decode()
        outcomes = [record.outcome for record in setting.lines.ended]
    assert MARK not in text
    assert outcomes == [Outcome.UPSTREAM_FAILED, Outcome.OK][: 1 if before else 2]
    assert ("upstream_unavailable" in text) is bool(before)


@pytest.mark.parametrize(
    "answer",
    [
        plain({"choices": "none"}),
        Answer(pieces=(b"<html>login</html>",), media="text/html"),
        Answer(pieces=(b"[" * 100_000,)),
        plain({"hello": "world"}, headers=(("Content-Encoding", "gzip"),)),
        stream(*chat_events(None)),
    ],
)
def test_what_is_not_of_the_dialect_goes_no_further(answer: Answer):
    with gateway(CHAT, answer) as setting:
        found = setting.ask(CHAT)
        assert setting.lines.ended[0].outcome is Outcome.NOT_THE_DIALECT
    assert (found.status_code, found.json()["error"]["code"]) == (502, "upstream_invalid")


def test_a_whole_answer_to_a_call_for_a_stream_is_not_of_the_dialect():
    with gateway(CHAT, whole(CHAT, None)) as setting:
        assert setting.ask(CHAT, stream=True).status_code == 502


@pytest.mark.parametrize("error", [AddressBarred(), OSError()])
def test_an_address_that_may_not_be_called_is_not_called(error: Exception):
    def reach(url: str) -> object:
        assert url.endswith("/v1/chat/completions")
        raise error

    with gateway(CHAT, whole(CHAT, None), reach=reach) as setting:
        assert setting.ask(CHAT).status_code == 503
        expected = Outcome.ADDRESS_REFUSED if isinstance(error, AddressBarred) else Outcome.UNREACHABLE
        assert {record.outcome for record in setting.lines.ended} == {expected}
        assert (setting.upstream.asked, len(setting.outages)) == ([], 1)
