"""However the bytes of a stream are cut, the ledger is the same and so is what the harness gets."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.gateway.answers import reader_for
from evaluation.gateway.contract import Dialect
from evaluation.gateway.sse import LONGEST, EventTooLong, Splitter, event_of
from tests.evaluation.gateway.answers import chat_events, chunk, message_events, response_events
from tests.evaluation.gateway.parts import CHAT, DIALECTS, MESSAGES, RESPONSES, events, gateway
from tests.evaluation.gateway.scripted import Answer, stream, written

EVENTS: dict[Dialect, list[Any]] = {
    CHAT: chat_events({"prompt_tokens": 11, "completion_tokens": 22}),
    RESPONSES: response_events({"input_tokens": 11, "output_tokens": 22}),
    MESSAGES: message_events({"input_tokens": 11, "output_tokens": 1}, {"output_tokens": 22}),
}
ENDS = (b"\n", b"\r\n", b"\r")
WHOLE = {dialect: b": begun\n\n" + b"".join(map(written, found)) for dialect, found in EVENTS.items()}


def _through(dialect: Dialect, pieces: list[bytes]) -> tuple[bytes, object, object, bool]:
    splitter, reader = Splitter(), reader_for(dialect, asked_for_usage=False)
    out = b""
    for piece in pieces:
        out += b"".join(reader.event(event) for event in splitter.feed(piece))
    out += b"".join(reader.event(event) for event in splitter.close())
    return out, reader.usage, reader.model, reader.ended


@settings(max_examples=150, deadline=None)
@given(data=st.data())
@pytest.mark.acceptance("fleet:5")
@pytest.mark.parametrize("dialect", DIALECTS)
def test_any_cut_gives_the_same_bytes_and_the_same_counts(dialect: Dialect, data: st.DataObject):
    end = data.draw(st.sampled_from(ENDS))
    whole = WHOLE[dialect].replace(b"\n", end)
    places = sorted(data.draw(st.sets(st.integers(0, len(whole)), max_size=30)))
    pieces = [whole[a:b] for a, b in zip([0, *places], [*places, len(whole)], strict=True)]
    assert _through(dialect, pieces) == _through(dialect, [whole])


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("end", ENDS)
def test_byte_by_byte_nothing_is_lost_or_added(dialect: Dialect, end: bytes):
    whole = WHOLE[dialect].replace(b"\n", end)
    out, usage, model, ended = _through(dialect, [bytes([one]) for one in whole])
    kept = whole
    if dialect is CHAT:  # the event with the usage, which nobody asked for
        kept = whole.replace(written(EVENTS[CHAT][3]).replace(b"\n", end), b"")
    assert out == kept
    assert (usage.input_tokens, usage.output_tokens, model, ended) == (11, 22, "snap-1", True)


@settings(max_examples=200, deadline=None)
@given(whole=st.binary(max_size=300), cut=st.integers(0, 300))
def test_whatever_comes_is_passed_on_in_order(whole: bytes, cut: int):
    splitter = Splitter()
    found = [*splitter.feed(whole[:cut]), *splitter.feed(whole[cut:]), *splitter.close()]
    assert b"".join(event.raw for event in found) == whole


def test_events_are_read_as_the_standard_says():
    found = event_of(b"\xef\xbb\xbf: note\nevent: a\ndata: one\ndata:two\nid: 7\nretry: 3\ndata\n\n")
    assert (found.name, found.data) == ("a", b"one\ntwo\n")
    assert event_of(b": ping\n\n").data is None


def test_an_event_without_end_is_not_collected_for_ever():
    splitter, piece = Splitter(), b"x" * 1_000_000
    with pytest.raises(EventTooLong):
        [list(splitter.feed(piece)) for _ in range(LONGEST // len(piece) + 2)]


@pytest.mark.parametrize("asked", [True, False])
def test_the_usage_event_is_shown_to_those_who_ask_for_it(asked: bool):
    more = {"stream_options": {"include_usage": True}} if asked else {}
    with gateway(CHAT, stream(*EVENTS[CHAT])) as setting:
        text = setting.ask_to_the_end(CHAT, stream=True, **more).decode()
        assert setting.upstream.asked[0].body["stream_options"] == {"include_usage": True}
    assert [bool(event.get("usage")) for event in events(text)] == [False] * 3 + [True] * asked
    assert text.endswith("data: [DONE]\n\n")


def test_usage_that_comes_with_a_choice_is_shown_as_it_came():
    sent = chat_events({"prompt_tokens": 1, "completion_tokens": 2}, late=False)
    with gateway(CHAT, stream(*sent)) as setting:
        text = setting.ask_to_the_end(CHAT, stream=True).decode()
    assert text == b"".join(map(written, sent)).decode()


def test_counts_that_grow_with_each_event_are_final_only_at_the_end():
    growing = [
        chunk({"content": "a"}, usage={"prompt_tokens": 9, "completion_tokens": 1}),
        chunk({"content": "b"}, "stop", usage={"prompt_tokens": 9, "completion_tokens": 2}),
    ]
    for kept, expected in ((1, None), (2, 2)):
        with gateway(CHAT, stream(*growing[:kept], end="cut")) as setting:
            setting.ask_to_the_end(CHAT, stream=True)
            assert setting.lines.ended[0].usage.output_tokens == expected


@pytest.mark.parametrize("dialect", DIALECTS)
def test_over_a_real_connection_pieces_of_seven_bytes_are_no_different(dialect: Dialect):
    whole = WHOLE[dialect]
    pieces = [whole[at : at + 7] for at in range(0, len(whole), 7)]
    results = []
    for cut in (pieces, [whole]):
        with gateway(dialect, Answer(media="text/event-stream; charset=utf-8", pieces=cut)) as setting:
            text = setting.ask_to_the_end(dialect, stream=True)
            results.append((text, setting.lines.ended[0].usage))
    assert results[0] == results[1]
    assert results[0][1].output_tokens == 22


def test_strange_events_pass_and_break_nothing():
    strange = [
        "not json",
        "[]",
        "{}",
        json.dumps({"choices": 5}),
        json.dumps({"usage": 7, "choices": [1]}),
        "null",
    ]
    with gateway(CHAT, stream(*strange, *EVENTS[CHAT])) as setting:
        text = setting.ask_to_the_end(CHAT, stream=True).decode()
        assert setting.lines.ended[0].usage.output_tokens == 22
        assert setting.gateway.fault is None
    assert all(f"data: {one}\n" in text for one in strange)


@pytest.mark.parametrize("dialect", [RESPONSES, MESSAGES])
def test_strange_usage_in_a_stream_breaks_nothing(dialect: Dialect):
    kinds = (
        ("message_start", "message_delta")
        if dialect is MESSAGES
        else ("response.completed", "response.created")
    )
    inner: tuple[str, ...] = ("message", "usage", "delta", "response")
    values: list[Any] = [7, [], "x", None, {"usage": [1]}]
    strange = [{"type": kind, name: value} for kind in kinds for name in inner for value in values]
    with gateway(dialect, stream(*strange, *EVENTS[dialect])) as setting:
        setting.ask_to_the_end(dialect, stream=True)
        assert setting.gateway.fault is None
        assert len(setting.lines.ended) == 1
