"""The official clients of both providers against the gateway, as a harness would use them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from evaluation.gateway.contract import Budget, Dialect
from tests.evaluation.gateway.answers import (
    MODEL,
    chat_events,
    chunk,
    message_events,
    response_events,
    whole,
)
from tests.evaluation.gateway.parts import CHAT, KEY, MESSAGES, RESPONSES, Setting, gateway
from tests.evaluation.gateway.scripted import Answer, plain, stream

if TYPE_CHECKING:  # loading both takes seconds, which nobody should pay who only collects tests
    import anthropic
    import openai

CHAT_USAGE = {"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13}
USAGE = {"input_tokens": 9, "output_tokens": 4, "total_tokens": 13}
TOOL = {"name": "shell", "description": "Run it.", "parameters": {"type": "object", "properties": {}}}
ARGUMENTS = json.dumps({"command": "ls 结果"}, ensure_ascii=False)
HELLO: list[Any] = [{"role": "user", "content": "hello"}]


@contextmanager
def openai_client(dialect: Dialect, *answers: Answer, **more: Any) -> Iterator[tuple[openai.OpenAI, Setting]]:
    import openai

    with gateway(dialect, *answers, **more) as setting:
        with openai.OpenAI(base_url=f"{setting.base}/v1", api_key=KEY, max_retries=2) as client:
            yield client, setting


@contextmanager
def anthropic_client(*answers: Answer, **more: Any) -> Iterator[tuple[anthropic.Anthropic, Setting]]:
    import anthropic

    with gateway(MESSAGES, *answers, **more) as setting:
        with anthropic.Anthropic(base_url=setting.base, api_key=KEY, max_retries=2) as client:
            yield client, setting


def _counts(setting: Setting) -> list[tuple[int | None, int | None]]:
    """After every line is written: a client goes on at the last event, which is sent before it."""
    setting.gateway.close(grace=20)
    return [(record.usage.input_tokens, record.usage.output_tokens) for record in setting.lines.ended]


def test_openai_lists_and_chats():
    with openai_client(CHAT, whole(CHAT, CHAT_USAGE)) as (client, setting):
        assert [model.id for model in client.models.list()] == ["main-model"]
        answer = client.chat.completions.create(
            model="main-model", messages=HELLO, user="somebody", store=True
        )
        assert (answer.choices[0].message.content, answer.usage.total_tokens) == ("hi", 13)
        assert _counts(setting) == [(9, 4)]
        assert not {"user", "store"} & set(setting.upstream.asked[0].body)


def test_openai_streams_with_and_without_the_usage_event():
    with openai_client(CHAT, stream(*chat_events(CHAT_USAGE))) as (client, setting):
        choices: list[Any] = [{}, {"stream_options": {"include_usage": True}}]
        for options in choices:
            chunks = list(
                client.chat.completions.create(model="main-model", messages=HELLO, stream=True, **options)
            )
            assert "".join(one.choices[0].delta.content or "" for one in chunks if one.choices) == "hi"
            assert [one.usage.total_tokens for one in chunks if one.usage] == [13] * len(options)
        assert _counts(setting) == [(9, 4)] * 2


def test_openai_calls_tools_in_a_stream():
    first = {"index": 0, "id": "t1", "type": "function", "function": {"name": "shell", "arguments": ""}}
    pieces = [ARGUMENTS[:7], ARGUMENTS[7:]]
    deltas = [
        {"tool_calls": [first]},
        *({"tool_calls": [{"index": 0, "function": {"arguments": p}}]} for p in pieces),
    ]
    sent = [*map(chunk, deltas), chunk({}, "tool_calls"), *chat_events(CHAT_USAGE)[3:]]
    tools: Any = [{"type": "function", "function": TOOL}]
    with openai_client(CHAT, stream(*sent)) as (client, setting):
        with client.chat.completions.stream(model="main-model", messages=HELLO, tools=tools) as found:
            call = found.get_final_completion().choices[0].message.tool_calls[0]
        assert (call.function.name, call.function.arguments) == ("shell", ARGUMENTS)
        assert (_counts(setting), setting.lines.ended[0].tools) == ([(9, 4)], 1)


def test_openai_responses_plain_stream_and_tools():
    item = {"type": "function_call", "id": "f", "call_id": "t1", "name": "shell", "arguments": ARGUMENTS}
    body = json.loads(whole(RESPONSES, USAGE).pieces[0]) | {"output": [{**item, "status": "completed"}]}
    answers = [whole(RESPONSES, USAGE), plain(body), stream(*response_events(USAGE))]
    with openai_client(RESPONSES, *answers) as (client, setting):
        assert client.responses.create(model="main-model", input="hello").output_text == "hi"
        tools: Any = [{"type": "function", **TOOL, "strict": False}]
        call = client.responses.create(model="main-model", input=HELLO, tools=tools).output[0]
        assert (call.type, call.arguments) == ("function_call", ARGUMENTS)
        with client.responses.stream(model="main-model", input="hello") as found:
            assert found.get_final_response().output_text == "hi"
        assert _counts(setting) == [(9, 4)] * 3
        assert all(asked.body["store"] is False for asked in setting.upstream.asked)


def test_anthropic_plain_stream_and_tools():
    use = {"type": "tool_use", "id": "t1", "name": "shell", "input": json.loads(ARGUMENTS)}
    body = json.loads(whole(MESSAGES, USAGE).pieces[0]) | {"content": [use], "stop_reason": "tool_use"}
    events = message_events({"input_tokens": 9, "output_tokens": 1}, {"output_tokens": 4})
    tools: Any = [{"name": "shell", "input_schema": TOOL["parameters"]}]
    said: dict[str, Any] = {"model": "main-model", "max_tokens": 100, "messages": HELLO}
    with anthropic_client(whole(MESSAGES, USAGE), plain(body), stream(*events)) as (client, setting):
        assert [model.id for model in client.models.list()] == ["main-model"]
        assert client.messages.create(**said).content[0].text == "hi"
        assert client.messages.create(**said, tools=tools).content[0].input == json.loads(ARGUMENTS)
        with client.messages.stream(**said) as found:
            assert found.get_final_text() == "hi"
            assert found.get_final_message().usage.output_tokens == 4
        assert _counts(setting) == [(9, 4)] * 3


def test_anthropics_beta_calls_are_plain_ones_here():
    with anthropic_client(whole(MESSAGES, USAGE)) as (client, setting):
        client.beta.messages.create(
            model="main-model", max_tokens=9, messages=HELLO, betas=["code-execution-2025-08-25"]
        )
        assert setting.lines.started[0].stripped == ("header anthropic-beta",)
        assert not [name for name in setting.upstream.asked[0].headers if "beta" in name]


def test_clients_see_refusals_as_their_own_errors():
    import anthropic
    import openai

    with openai_client(CHAT, whole(CHAT, CHAT_USAGE), budget=Budget(1, 100_000)) as (client, setting):
        with pytest.raises(openai.PermissionDeniedError, match="not listed"):
            client.chat.completions.create(model=MODEL, messages=HELLO)
        with pytest.raises(openai.AuthenticationError):
            client.with_options(api_key="wrong").chat.completions.create(model="main-model", messages=HELLO)
        client.chat.completions.create(model="main-model", messages=HELLO)
        with pytest.raises(openai.RateLimitError) as refused:
            client.chat.completions.create(model="main-model", messages=HELLO)
        assert refused.value.code == "budget_exhausted"
        assert setting.gateway.refused["budget_exhausted"] == 1  # it was told not to try again
    with anthropic_client(Answer(status=529)) as (theirs, setting):
        with pytest.raises(anthropic.InternalServerError, match="did not answer"):
            theirs.with_options(max_retries=0).messages.create(
                model="main-model", max_tokens=5, messages=HELLO
            )
        assert len(setting.lines.ended) == 4


def test_clients_notice_a_stream_that_broke_off():
    import anthropic
    import openai

    with openai_client(CHAT, stream(*chat_events(CHAT_USAGE)[:2], end="cut")) as (client, setting):
        with pytest.raises(openai.APIError):
            list(client.chat.completions.create(model="main-model", messages=HELLO, stream=True))
    with anthropic_client(stream(*message_events(USAGE, USAGE)[:3], end="cut")) as (theirs, setting):
        with pytest.raises(anthropic.APIError):
            list(theirs.messages.create(model="main-model", max_tokens=5, messages=HELLO, stream=True))
        assert setting.lines.ended[0].incomplete
