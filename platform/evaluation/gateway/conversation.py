"""What may stand in a conversation: texts, tool calls and their results, and content that is there inline.

An address or a file id would make the provider fetch something for the harness, which has no network. Kinds of content
that are not in these tables are refused: without them the conversation would mean something else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evaluation.gateway.contract import Dialect
from evaluation.gateway.fields import known
from evaluation.gateway.refusals import Code, Refusal

Keys = frozenset[str]


def _keys(*names: str) -> Keys:
    return frozenset({"type", *names})


CHAT_MESSAGE = frozenset(
    {
        *("role", "content", "name", "refusal", "tool_calls", "tool_call_id", "function_call"),
        *("reasoning_content", "reasoning"),
    }
)
CHAT_PARTS: Mapping[str, Keys] = {
    "text": _keys("text", "cache_control"),
    "refusal": _keys("refusal"),
    "image_url": _keys("image_url"),
    "input_audio": _keys("input_audio"),
    "file": _keys("file"),
}
ITEMS: Mapping[str, Keys] = {
    "message": _keys("role", "content", "id", "status", "phase"),
    "function_call": _keys("call_id", "name", "arguments", "id", "status"),
    "function_call_output": _keys("call_id", "output", "id", "status"),
    "custom_tool_call": _keys("call_id", "name", "input", "id", "status"),
    "custom_tool_call_output": _keys("call_id", "output", "id", "status"),
    "reasoning": _keys("id", "summary", "content", "encrypted_content", "status"),
}
ITEM_PARTS: Mapping[str, Keys] = {
    "input_text": _keys("text"),
    "output_text": _keys("text", "annotations", "logprobs"),
    "reasoning_text": _keys("text"),
    "summary_text": _keys("text"),
    "refusal": _keys("refusal"),
    "input_image": _keys("image_url", "detail"),
    "input_file": _keys("file_data", "filename"),
}
BLOCKS: Mapping[str, Keys] = {
    "text": _keys("text", "cache_control", "citations"),
    "image": _keys("source", "cache_control"),
    "document": _keys("source", "title", "context", "citations", "cache_control"),
    "search_result": _keys("source", "title", "content", "citations", "cache_control"),
    "thinking": _keys("thinking", "signature"),
    "redacted_thinking": _keys("data"),
    "tool_use": _keys("id", "name", "input", "cache_control"),
    "tool_result": _keys("tool_use_id", "content", "is_error", "cache_control"),
}
BLOCK_MESSAGE = frozenset({"role", "content"})
DEEPEST = 4
"""Blocks within blocks: a result that holds a document that holds texts."""


@dataclass
class Checked:
    """What was found on the way: paths that were left out, and how much content is inline."""

    stripped: list[str]
    inline: int = 0
    inline_bytes: int = 0

    def counted(self, data: str) -> None:
        self.inline += 1
        self.inline_bytes += len(data)


def conversation(dialect: Dialect, body: dict[str, Any], found: Checked) -> None:
    """Check and clean the conversation in `body`. Raises Refusal."""
    if dialect is Dialect.OPENAI_CHAT:
        body["messages"] = _chat(body.get("messages"), found)
    elif dialect is Dialect.OPENAI_RESPONSES:
        body["input"] = _items(body.get("input"), found)
    else:
        body["messages"] = _turns(body.get("messages"), found)
        if "system" in body:
            body["system"] = _content(body["system"], BLOCKS, "system", found)


def _chat(messages: object, found: Checked) -> list[dict[str, Any]]:
    clean = []
    for where, message in _listed(messages, "messages"):
        kept = known(message, CHAT_MESSAGE, where, found.stripped)
        if kept.get("content") is not None:
            kept["content"] = _content(kept["content"], CHAT_PARTS, f"{where}.content", found)
        clean.append(kept)
    return clean


def _turns(messages: object, found: Checked) -> list[dict[str, Any]]:
    clean = []
    for where, message in _listed(messages, "messages"):
        kept = known(message, BLOCK_MESSAGE, where, found.stripped)
        kept["content"] = _content(kept.get("content"), BLOCKS, f"{where}.content", found)
        clean.append(kept)
    return clean


def _items(given: object, found: Checked) -> object:
    if isinstance(given, str):
        return given
    clean = []
    for where, item in _listed(given, "input"):
        kind = item.get("type", "message")
        if kind == "item_reference":
            raise Refusal(Code.STORED_STATE, where)
        kept = known(item, _allowed(ITEMS, kind, where), where, found.stripped)
        for name in ("content", "output", "summary"):
            if kept.get(name) is not None:
                kept[name] = _content(kept[name], ITEM_PARTS, f"{where}.{name}", found)
        clean.append(kept)
    return clean


def _listed(given: object, name: str) -> list[tuple[str, dict[str, Any]]]:
    if not isinstance(given, list) or not all(isinstance(one, dict) for one in given):
        raise Refusal(Code.FIELD_INVALID, name)
    return [(f"{name}[{at}]", one) for at, one in enumerate(given)]


def _content(given: object, table: Mapping[str, Keys], where: str, found: Checked, depth: int = 0) -> object:
    """A text, or a list of parts whose kinds stand in `table`."""
    if isinstance(given, str):
        return given
    if depth == DEEPEST:
        raise Refusal(Code.TOO_COMPLEX, where)
    clean = []
    for place, part in _listed(given, where):
        kind = part.get("type")
        kept = known(part, _allowed(table, kind, place), place, found.stripped)
        _inline(kept, place, found, depth)
        if kind in ("tool_result", "search_result") and kept.get("content") is not None:
            kept["content"] = _content(kept["content"], table, f"{place}.content", found, depth + 1)
        clean.append(kept)
    return clean


def _allowed(table: Mapping[str, Keys], kind: object, where: str) -> Keys:
    keys = table.get(kind) if isinstance(kind, str) else None
    if keys is None:
        raise Refusal(Code.CONTENT_NOT_ALLOWED, f"{where}.type")
    return keys


def _inline(part: dict[str, Any], where: str, found: Checked, depth: int) -> None:
    """Refuse what is elsewhere; count what is here."""
    kind = part["type"]
    if kind == "image_url":
        holder = part.get("image_url")
        part["image_url"] = {"url": _data(_of(holder, "url"), where, found)} | _detail(holder)
    elif kind == "input_image":
        _data(part.get("image_url"), where, found)
    elif kind == "input_file":
        _data(part.get("file_data"), where, found, any_form=True)
    elif kind == "file":
        data = _data(_of(part.get("file"), "file_data"), where, found, any_form=True)
        name = _of(part.get("file"), "filename")
        part["file"] = {"file_data": data} | ({"filename": name} if isinstance(name, str) else {})
    elif kind == "input_audio":
        data = _data(_of(part.get("input_audio"), "data"), where, found, any_form=True)
        part["input_audio"] = {"data": data, "format": _of(part["input_audio"], "format")}
    elif kind in ("image", "document"):
        part["source"] = _source(part.get("source"), where, found, depth)


def _of(table: object, name: str) -> object:
    return table.get(name) if isinstance(table, Mapping) else None


def _detail(holder: object) -> dict[str, Any]:
    detail = _of(holder, "detail")
    return {"detail": detail} if isinstance(detail, str) else {}


def _data(value: object, where: str, found: Checked, *, any_form: bool = False) -> str:
    """Content that is inline: a data URL, or in `any_form` bare base64, which is no address."""
    if not isinstance(value, str):
        raise Refusal(Code.REMOTE_CONTENT, where)
    is_data = value[:5].lower() == "data:"
    if not is_data and not (any_form and ":" not in value[:64]):
        raise Refusal(Code.REMOTE_CONTENT, where)
    found.counted(value)
    return value


def _source(source: object, where: str, found: Checked, depth: int) -> dict[str, Any]:
    """Where Anthropic's images and documents come from: base64, a text, or blocks; no address and no file."""
    kind = _of(source, "type")
    if kind == "base64":
        data = _data(_of(source, "data"), where, found, any_form=True)
        return {"type": kind, "media_type": _of(source, "media_type"), "data": data}
    if kind == "text":
        return {"type": kind, "media_type": _of(source, "media_type"), "data": _of(source, "data")}
    if kind == "content":
        return {
            "type": kind,
            "content": _content(_of(source, "content"), BLOCKS, f"{where}.source", found, depth + 1),
        }
    raise Refusal(Code.REMOTE_CONTENT, f"{where}.source")
