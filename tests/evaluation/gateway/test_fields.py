"""What of a request reaches an upstream, what is left out, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from evaluation.gateway.contract import Dialect
from tests.evaluation.gateway.answers import whole
from tests.evaluation.gateway.parts import CHAT, CREDENTIAL, DIALECTS, MESSAGES, RESPONSES, gateway, request

PNG = "data:image/png;base64,iVBORw0KGgo="
IDENTIFYING = {
    CHAT: (
        "user",
        "safety_identifier",
        "metadata",
        "store",
        "service_tier",
        "prompt_cache_key",
        "cache_salt",
    ),
    RESPONSES: (
        "user",
        "safety_identifier",
        "metadata",
        "service_tier",
        "prompt_cache_key",
        "max_tool_calls",
    ),
    MESSAGES: ("metadata", "service_tier", "inference_geo", "context_management", "betas", "user"),
}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_what_could_carry_something_out_is_left_out_and_noted(dialect: Dialect):
    names = (*IDENTIFYING[dialect], "invented_tomorrow")
    with gateway(dialect, whole(dialect, None)) as setting:
        answer = setting.ask(dialect, temperature=0.5, **dict.fromkeys(names, "task-canary"))
        assert answer.status_code == 200
        (asked,) = setting.upstream.asked
        (call,) = setting.lines.started
    assert "task-canary" not in str(asked)
    bound = {"max_completion_tokens", "max_output_tokens", "max_tokens"}  # what is reserved
    assert set(asked.body) - {"store"} - bound == {*request(dialect), "temperature"} - bound
    assert set(call.stripped) == set(names)
    assert asked.body["model"] == "snap-1"
    assert asked.body.get("store") is (False if dialect is RESPONSES else None)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_an_upstream_is_told_nothing_but_the_call(dialect: Dialect):
    with gateway(dialect, whole(dialect, None)) as setting:
        setting.ask(dialect)
        (asked,) = setting.upstream.asked
    credential = {"x-api-key", "anthropic-version"} if dialect is MESSAGES else {"authorization"}
    assert set(asked.headers) == {
        *("host", "content-type", "content-length", "accept", "accept-encoding"),
        *credential,
    }
    assert CREDENTIAL in asked.headers["x-api-key" if dialect is MESSAGES else "authorization"]
    assert asked.headers["host"] == "upstream.example"
    path = {CHAT: "/v1/chat/completions", RESPONSES: "/v1/responses", MESSAGES: "/v1/messages"}
    assert asked.path == path[dialect]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_of_the_answers_headers_only_what_the_protocol_needs_comes_back(dialect: Dialect):
    sent = (("x-request-id", "req-9"), ("set-cookie", "a=b"), ("x-ratelimit-remaining-requests", "3"))
    with gateway(dialect, whole(dialect, None, headers=sent)) as setting:
        answer = setting.ask(dialect)
    assert set(answer.headers) == {"content-type", "content-length", "connection"}


def _said(dialect: Dialect, content: Any) -> dict[str, Any]:
    return {"input" if dialect is RESPONSES else "messages": [{"role": "user", "content": content}]}


def _tool(dialect: Dialect, tool: dict[str, Any]) -> dict[str, Any]:
    return {"tools": [tool]}


URL, FILE = "https://example.org/a.png", "file-abc"
FILED = {"type": "document", "source": {"type": "file", "file_id": FILE}}
AWAY, FIRST = {"type": "image", "source": {"type": "url", "url": URL}}, "messages[0].content[0]"
HELD = {"type": "tool_result", "content": [AWAY]}
REFUSED: list[tuple[Dialect, dict[str, Any], str, str]] = [
    (CHAT, {"web_search_options": {"a": 1}}, "hosted_tool", "web_search_options"),
    (CHAT, _tool(CHAT, {"type": "web_search"}), "hosted_tool", "tools[0].type"),
    (CHAT, {"audio": {"voice": "alloy"}}, "content_not_allowed", "audio"),
    (CHAT, _said(CHAT, [{"type": "image_url", "image_url": {"url": URL}}]), "remote_content", FIRST),
    (CHAT, _said(CHAT, [{"type": "file", "file": {"file_id": FILE}}]), "remote_content", FIRST),
    (CHAT, _said(CHAT, [{"type": "video_url"}]), "content_not_allowed", "messages[0].content[0].type"),
    (RESPONSES, {"previous_response_id": "resp_1"}, "stored_state", "previous_response_id"),
    (RESPONSES, {"conversation": "conv_1"}, "stored_state", "conversation"),
    (RESPONSES, {"background": True}, "stored_state", "background"),
    (RESPONSES, {"prompt": {"id": "pmpt_1"}}, "stored_state", "prompt"),
    (RESPONSES, {"input": [{"type": "item_reference", "id": "x"}]}, "stored_state", "input[0]"),
    (RESPONSES, _said(RESPONSES, [{"type": "input_image", "image_url": URL}]), "remote_content", "input[0].content[0]"),
    (RESPONSES, _said(RESPONSES, [{"type": "input_image", "file_id": FILE}]), "remote_content", "input[0].content[0]"),
    (RESPONSES, _said(RESPONSES, [{"type": "input_file", "file_url": URL}]), "remote_content", "input[0].content[0]"),
    (RESPONSES, {"input": [{"type": "web_search_call"}]}, "content_not_allowed", "input[0].type"),
    *(
        (RESPONSES, _tool(RESPONSES, {"type": kind}), "hosted_tool", "tools[0].type")
        for kind in ("web_search", "file_search", "code_interpreter", "mcp", "computer_use_preview", "image_generation")
    ),
    (RESPONSES, {"tool_choice": {"type": "web_search"}}, "hosted_tool", "tool_choice.type"),
    (MESSAGES, {"container": "c"}, "hosted_tool", "container"),
    (MESSAGES, {"mcp_servers": [{"url": URL}]}, "hosted_tool", "mcp_servers"),
    *(
        (MESSAGES, _tool(MESSAGES, {"type": kind, "name": "x"}), "hosted_tool", "tools[0].type")
        for kind in ("web_search_20250305", "web_fetch_20250910", "code_execution_20250825", "computer_20250124")
    ),
    (MESSAGES, _said(MESSAGES, [AWAY]), "remote_content", f"{FIRST}.source"),
    (MESSAGES, _said(MESSAGES, [FILED]), "remote_content", f"{FIRST}.source"),
    (MESSAGES, _said(MESSAGES, [HELD]), "remote_content", f"{FIRST}.content[0].source"),
    (MESSAGES, _said(MESSAGES, [{"type": "container_upload"}]), "content_not_allowed", f"{FIRST}.type"),
    (MESSAGES, {"max_tokens": ...}, "field_invalid", "max_tokens"),
    (CHAT, {"max_tokens": 0}, "field_invalid", "max_tokens"),
    (CHAT, {"max_tokens": True}, "field_invalid", "max_tokens"),
    (CHAT, {"n": "many"}, "field_invalid", "n"),
    (CHAT, {"stream": "yes"}, "field_invalid", "stream"),
    (CHAT, {"messages": "hello"}, "field_invalid", "messages"),
    (CHAT, {"tools": {"type": "function"}}, "field_invalid", "tools"),
    (RESPONSES, {"include": "all"}, "field_invalid", "include"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("dialect", "fields", "code", "field"),
    REFUSED,
    ids=[f"{d}-{c}-{n}" for n, (d, _, c, _) in enumerate(REFUSED)],
)
def test_what_would_leave_the_conversation_is_refused_by_name(
    dialect: Dialect, fields: dict[str, Any], code: str, field: str
):
    with gateway(dialect, whole(dialect, None)) as setting:
        answer = setting.ask(dialect, **fields)
        assert (setting.upstream.asked, setting.lines.started) == ([], [])
        assert setting.gateway.refused == {code: 1}
        assert setting.gateway.used.steps == 0
    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (400, code)
    assert field in error["message"]
    assert ("type" in answer.json()) is (dialect is MESSAGES)


INLINE: list[tuple[Dialect, Any]] = [
    (CHAT, [{"type": "text", "text": "look"}, {"type": "image_url", "image_url": {"url": PNG, "detail": "low"}}]),
    (CHAT, [{"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}}]),
    (CHAT, [{"type": "file", "file": {"file_data": "data:application/pdf;base64,AA", "filename": "a.pdf"}}]),
    (RESPONSES, [{"type": "input_text", "text": "look"}, {"type": "input_image", "image_url": PNG}]),
    (RESPONSES, [{"type": "input_file", "file_data": "data:application/pdf;base64,AA", "filename": "a"}]),
    (MESSAGES, [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA"}}]),
    (MESSAGES, [{"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "x"}}]),
    (MESSAGES, [{"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "x"}]}]),
]  # fmt: skip


@pytest.mark.parametrize(("dialect", "content"), INLINE)
def test_content_that_is_inline_passes_unchanged(dialect: Dialect, content: Any):
    with gateway(dialect, whole(dialect, None)) as setting:
        assert setting.ask(dialect, **_said(dialect, content)).status_code == 200
        body = setting.upstream.asked[0].body
        assert setting.lines.started[0].stripped == ()
    assert body["input" if dialect is RESPONSES else "messages"][0]["content"] == content


TOOLS = {
    CHAT: {"type": "function", "function": {"name": "sh", "parameters": {"type": "object"}}},
    RESPONSES: {"type": "function", "name": "sh", "parameters": {"type": "object"}, "strict": False},
    MESSAGES: {"name": "sh", "input_schema": {"type": "object"}},
}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_tools_that_the_harness_runs_pass_and_are_counted(dialect: Dialect):
    own = [TOOLS[dialect]]
    if dialect is MESSAGES:
        own.append({"type": "bash_20250124", "name": "bash"})
    with gateway(dialect, whole(dialect, None)) as setting:
        assert setting.ask(dialect, tools=own).status_code == 200
        assert setting.upstream.asked[0].body["tools"] == own
        assert setting.lines.ended[0].tools == len(own)
        assert setting.gateway.observed["main-model"].tools == (len(own), len(own))


def test_a_conversation_with_tool_calls_passes():
    said = [
        {"role": "user", "content": "go"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "t1", "type": "function", "function": {"name": "sh", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "t1", "content": "done"},
    ]
    items = [
        {"role": "user", "content": "go"},
        {"type": "reasoning", "id": "rs", "summary": [], "encrypted_content": "zzz"},
        {"type": "function_call", "call_id": "t1", "name": "sh", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "t1", "output": "done"},
    ]
    with gateway(CHAT, whole(CHAT, None)) as setting:
        assert setting.ask(CHAT, messages=said).status_code == 200
        assert setting.upstream.asked[0].body["messages"] == said
    with gateway(RESPONSES, whole(RESPONSES, None)) as setting:
        wanted = ["reasoning.encrypted_content", "web_search_call.results"]
        assert setting.ask(RESPONSES, input=items, include=wanted).status_code == 200
        assert setting.upstream.asked[0].body["input"] == items
        assert setting.upstream.asked[0].body["include"] == wanted[:1]
        assert setting.lines.started[0].stripped == ("include.web_search_call.results",)


def test_headers_that_switch_a_provider_are_noted_and_go_nowhere():
    with gateway(MESSAGES, whole(MESSAGES, None)) as setting:
        setting.ask(MESSAGES, headers={"anthropic-beta": "code-execution-2025-08-25"}, query="?beta=true")
        assert setting.lines.started[0].stripped == ("header anthropic-beta", "query")
        assert "anthropic-beta" not in setting.upstream.asked[0].headers
        assert setting.upstream.asked[0].path == "/v1/messages"
