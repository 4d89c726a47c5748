"""Which fields of a request go on to an upstream, by dialect: a list of what passes, and of what is refused.

What stands in neither list is left out and noted, so a field that a provider invents tomorrow does not pass. Refused is
what would change what the answer means if it were left out: tools that the provider runs, state that it keeps.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evaluation.gateway.contract import Dialect
from evaluation.gateway.refusals import Code, Refusal

CHAT, RESPONSES, MESSAGES = Dialect.OPENAI_CHAT, Dialect.OPENAI_RESPONSES, Dialect.ANTHROPIC_MESSAGES

PASSED: Mapping[Dialect, frozenset[str]] = {
    CHAT: frozenset(
        {
            *(
                "model",
                "messages",
                "stream",
                "stream_options",
                "max_tokens",
                "max_completion_tokens",
                "n",
                "stop",
            ),
            *("temperature", "top_p", "top_k", "min_p", "seed", "presence_penalty", "frequency_penalty"),
            *("repetition_penalty", "logit_bias", "logprobs", "top_logprobs", "verbosity", "prediction"),
            *("tools", "tool_choice", "parallel_tool_calls", "functions", "function_call", "response_format"),
            *("reasoning_effort", "reasoning", "thinking", "enable_thinking"),
        }
    ),
    RESPONSES: frozenset(
        {
            *(
                "model",
                "input",
                "instructions",
                "stream",
                "max_output_tokens",
                "temperature",
                "top_p",
                "top_k",
            ),
            *("tools", "tool_choice", "parallel_tool_calls", "reasoning", "text", "truncation", "include"),
            *("top_logprobs", "seed"),
        }
    ),
    MESSAGES: frozenset(
        {
            *(
                "model",
                "messages",
                "system",
                "max_tokens",
                "stream",
                "stop_sequences",
                "temperature",
                "top_p",
            ),
            *("top_k", "tools", "tool_choice", "thinking", "output_config", "output_format", "cache_control"),
        }
    ),
}

REFUSED: Mapping[Dialect, Mapping[str, Code]] = {
    CHAT: {"web_search_options": Code.HOSTED_TOOL, "audio": Code.CONTENT_NOT_ALLOWED},
    RESPONSES: {
        "previous_response_id": Code.STORED_STATE,
        "conversation": Code.STORED_STATE,
        "prompt": Code.STORED_STATE,
        "background": Code.STORED_STATE,
        "container": Code.HOSTED_TOOL,
    },
    MESSAGES: {"container": Code.HOSTED_TOOL, "mcp_servers": Code.HOSTED_TOOL},
}
"""Refused where they hold anything; null, false and empty are left out like any other field."""

TOOL_KEYS: Mapping[Dialect, frozenset[str]] = {
    CHAT: frozenset({"type", "function", "custom"}),
    RESPONSES: frozenset({"type", "name", "description", "parameters", "strict", "format"}),
    MESSAGES: frozenset({"type", "name", "description", "input_schema", "strict", "cache_control"}),
}
TOOL_TYPES: Mapping[Dialect, tuple[str, ...]] = {
    CHAT: ("function", "custom"),
    RESPONSES: ("function", "custom"),
    MESSAGES: ("custom",),
}
RUN_BY_THE_CLIENT = ("bash_", "text_editor_")
"""Anthropic's own tools that the harness itself carries out, by the beginning of their type."""

INCLUDED = ("reasoning.encrypted_content", "message.output_text.logprobs")
"""What `include` of the responses dialect may ask for."""


def passed(dialect: Dialect, body: Mapping[str, Any], stripped: list[str]) -> dict[str, Any]:
    """The fields that go on. Raises Refusal."""
    for name, code in REFUSED[dialect].items():
        if body.get(name):
            raise Refusal(code, name)
    stripped += [name for name in body if name not in PASSED[dialect]]
    return {name: value for name, value in body.items() if name in PASSED[dialect] and value is not None}


def tools(dialect: Dialect, given: object, stripped: list[str]) -> list[dict[str, Any]]:
    """The tools that go on: those the harness runs itself. Raises Refusal."""
    if not isinstance(given, list) or not all(isinstance(tool, dict) for tool in given):
        raise Refusal(Code.FIELD_INVALID, "tools")
    return [_tool(dialect, tool, f"tools[{at}]", stripped) for at, tool in enumerate(given)]


def _tool(dialect: Dialect, tool: dict[str, Any], where: str, stripped: list[str]) -> dict[str, Any]:
    kind = tool.get("type")
    if dialect is MESSAGES:
        if isinstance(kind, str) and kind.startswith(RUN_BY_THE_CLIENT):
            return tool
        kind = "custom" if kind is None else kind
    if kind not in TOOL_TYPES[dialect]:
        raise Refusal(Code.HOSTED_TOOL, f"{where}.type")
    return known(tool, TOOL_KEYS[dialect], where, stripped)


def known(table: Mapping[str, Any], keys: frozenset[str], where: str, stripped: list[str]) -> dict[str, Any]:
    """`table` without the keys that are not in `keys`."""
    stripped += [f"{where}.{key}" for key in table if key not in keys]
    return {key: value for key, value in table.items() if key in keys}
