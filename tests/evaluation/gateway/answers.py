"""Answers of the three dialects, plain and in streams, with whatever usage a test gives them."""

from __future__ import annotations

from typing import Any

from evaluation.gateway.contract import Dialect
from tests.evaluation.gateway.parts import CHAT, MESSAGES, RESPONSES
from tests.evaluation.gateway.scripted import Answer, plain

MODEL = "snap-1"


def whole(dialect: Dialect, usage: dict[str, Any] | None, text: str = "hi", **more: Any) -> Answer:
    """A plain answer; no `usage` key where it is None."""
    body = {CHAT: chat, RESPONSES: response, MESSAGES: message}[dialect](text)
    return plain(body | ({} if usage is None else {"usage": usage}), **more)


def chat(text: str) -> dict[str, Any]:
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
    return {"id": "c-1", "object": "chat.completion", "created": 1, "model": MODEL, "choices": [choice]}


def response(text: str, status: str = "completed") -> dict[str, Any]:
    part = {"type": "output_text", "text": text, "annotations": []}
    item = {"type": "message", "id": "m-1", "role": "assistant", "status": "completed", "content": [part]}
    return {
        "id": "r-1",
        "object": "response",
        "created_at": 1,
        "model": MODEL,
        "status": status,
        "output": [item],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    }


def message(text: str) -> dict[str, Any]:
    return {
        "id": "msg-1",
        "type": "message",
        "role": "assistant",
        "model": MODEL,
        "content": [{"type": "text", "text": text}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
    }


def chunk(delta: dict[str, Any], finish: str | None = None, **more: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {
        "id": "c-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": MODEL,
        "choices": [choice],
        **more,
    }


def chat_events(usage: dict[str, Any] | None, *, late: bool = True) -> list[dict[str, Any] | str]:
    """Usage in an event of its own after the last choice, or, not `late`, with the last choice."""
    said = [chunk({"role": "assistant", "content": "h"}), chunk({"content": "i"})]
    if usage is None:
        return [*said, chunk({}, "stop"), "[DONE]"]
    if not late:
        return [*said, chunk({}, "stop", usage=usage), "[DONE]"]
    last = {"id": "c-1", "object": "chat.completion.chunk", "created": 1, "model": MODEL, "choices": []}
    return [*said, chunk({}, "stop"), {**last, "usage": usage}, "[DONE]"]


def response_events(usage: dict[str, Any] | None, kind: str = "completed") -> list[dict[str, Any] | str]:
    begun = response("", "in_progress") | {"output": []}
    ended = response("hi", kind) | {"usage": usage}
    item = {**ended["output"][0], "status": "in_progress", "content": []}
    part = {"type": "output_text", "text": "", "annotations": []}
    at = {"item_id": "m-1", "output_index": 0, "content_index": 0}
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": begun},
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        {"type": "response.content_part.added", **at, "part": part},
        {"type": "response.output_text.delta", **at, "delta": "hi", "logprobs": []},
        {"type": "response.output_text.done", **at, "text": "hi", "logprobs": []},
        {"type": "response.content_part.done", **at, "part": part | {"text": "hi"}},
        {"type": "response.output_item.done", "output_index": 0, "item": ended["output"][0]},
        {"type": f"response.{kind}", "response": ended},
    ]
    return [{**event, "sequence_number": number} for number, event in enumerate(events)]


def message_events(
    first: dict[str, Any] | None, *counts: dict[str, Any] | None
) -> list[dict[str, Any] | str]:
    """`first` is the usage of message_start, `counts` those of the message_delta events, the last of which ends it."""
    begun = message("") | {"content": [], "stop_reason": None}
    events: list[dict[str, Any] | str] = [
        {"type": "message_start", "message": begun | ({} if first is None else {"usage": first})},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "ping"},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "hi"}},
        {"type": "content_block_stop", "index": 0},
    ]
    for number, usage in enumerate(counts, start=1):
        reason = "end_turn" if number == len(counts) else None
        delta: dict[str, Any] = {
            "type": "message_delta",
            "delta": {"stop_reason": reason, "stop_sequence": None},
        }
        events.append(delta | ({} if usage is None else {"usage": usage}))
    return [*events, {"type": "message_stop"}]
