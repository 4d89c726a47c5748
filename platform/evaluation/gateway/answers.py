"""Reads an answer while it passes: which model, which usage, whether it came to its end, what may go on to the harness.

A `Reader` is given every event of a stream, or one whole body. It never changes what it lets pass; it keeps back the
usage event that only the gateway asked for, and errors of a provider.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from evaluation.gateway.contract import Dialect, Usage
from evaluation.gateway.sse import Event
from evaluation.gateway.texts import plain
from evaluation.gateway.usage import kept, normalised

MODEL_LENGTH = 200
MOST_CHOICES = 128
_ENDS = ("response.completed", "response.incomplete", "response.failed", "response.cancelled")


class Reader:
    """What one answer says about itself. `usage` is what may be relied on: of an answer cut off, what was final."""

    dialect: Dialect
    part: str
    """The list that every plain answer of the dialect holds."""

    def __init__(self) -> None:
        self.model: str | None = None
        self.finished = False
        """Everything that belongs to the answer has come."""
        self.ended = False
        """And the event that closes the stream as well."""
        self.failed = False
        """The provider put an error into the stream."""
        self._raw: Mapping[str, Any] | None = None

    def whole(self, body: object) -> bool:
        """Take a plain answer; False where it is none of this dialect."""
        if not isinstance(body, Mapping) or not isinstance(body.get(self.part), list):
            return False
        self._named(body.get("model"))
        self._reported(body.get("usage"))
        self.finished = self.ended = True
        return True

    def event(self, found: Event) -> bytes:
        """Take one event; returns what goes on to the harness."""
        if found.data is None:
            return found.raw
        body = parsed(found.data)
        if not isinstance(body, Mapping):
            return found.raw
        return self._taken(found, body)

    def _taken(self, found: Event, body: Mapping[str, Any]) -> bytes:
        raise NotImplementedError

    @property
    def usage(self) -> Usage:
        """The counts that are final."""
        return normalised(self.dialect, self._raw)

    def _named(self, model: object) -> None:
        if isinstance(model, str) and model:
            self.model = plain(model, MODEL_LENGTH)

    def _reported(self, usage: object) -> None:
        if isinstance(usage, Mapping) and usage:
            self._raw = dict(usage) if self._raw is None else kept({**self._raw, **usage})

    def _error(self) -> bytes:
        self.failed = True
        return b""


class Chat(Reader):
    """OpenAI chat completions. The usage of a stream comes last, in an event of its own or with the last choice."""

    dialect = Dialect.OPENAI_CHAT
    part = "choices"

    def __init__(self, *, asked_for_usage: bool) -> None:
        super().__init__()
        self._asked = asked_for_usage
        self._open: set[object] = set()

    def event(self, found: Event) -> bytes:
        if found.data is not None and found.data.strip() == b"[DONE]":
            self.finished = self.ended = True
            return found.raw
        return super().event(found)

    def _taken(self, found: Event, body: Mapping[str, Any]) -> bytes:
        if body.get("error") is not None:
            return self._error()
        self._named(body.get("model"))
        choices, usage = body.get("choices"), body.get("usage")
        self._choices(choices)
        if isinstance(usage, Mapping) and (self.finished or choices == []):
            self._raw = None  # each is the whole so far, not an addition
            self._reported(usage)
        return b"" if usage is not None and choices == [] and not self._asked else found.raw

    def _choices(self, choices: object) -> None:
        """Finished is an answer when every choice of it is."""
        chosen = [one for one in choices if isinstance(one, Mapping)] if isinstance(choices, list) else []
        for one in chosen:
            index = str(one.get("index", 0))
            if one.get("finish_reason"):
                self._open.discard(index)
            elif len(self._open) < MOST_CHOICES:
                self._open.add(index)
        if any(one.get("finish_reason") for one in chosen):
            self.finished = not self._open


class Responses(Reader):
    """OpenAI responses. One of the last events holds the whole answer with its usage."""

    dialect = Dialect.OPENAI_RESPONSES
    part = "output"

    def whole(self, body: object) -> bool:
        if isinstance(body, Mapping) and body.get("error") is not None:
            self.failed = True
        return super().whole(body)

    def _taken(self, found: Event, body: Mapping[str, Any]) -> bytes:
        kind, response = body.get("type"), body.get("response")
        if isinstance(response, Mapping):
            self._named(response.get("model"))
            if kind in _ENDS:
                self._reported(response.get("usage"))
                self.finished = self.ended = True
        return self._error() if kind in ("error", "response.failed") else found.raw


class Messages(Reader):
    """Anthropic messages. Input comes with the first event, output is counted up; the last count is the whole."""

    dialect = Dialect.ANTHROPIC_MESSAGES
    part = "content"

    def __init__(self) -> None:
        super().__init__()
        self._counted = False

    def whole(self, body: object) -> bool:
        self._counted = True
        return super().whole(body)

    def _taken(self, found: Event, body: Mapping[str, Any]) -> bytes:
        kind = body.get("type")
        if kind == "error":
            return self._error()
        if kind == "message_start" and isinstance(message := body.get("message"), Mapping):
            self._named(message.get("model"))
            self._reported(message.get("usage"))
        elif kind == "message_delta":
            self._delta(body.get("usage"), body.get("delta"))
        elif kind == "message_stop":
            self.finished = self.ended = True
        return found.raw

    def _delta(self, usage: object, delta: object) -> None:
        if isinstance(usage, Mapping):
            self._reported({key: value for key, value in usage.items() if value is not None})
            self._counted |= usage.get("output_tokens") is not None
        self.finished |= isinstance(delta, Mapping) and bool(delta.get("stop_reason"))

    @property
    def usage(self) -> Usage:
        """Of a stream that was cut off the output is not known: what `message_start` says of it is a beginning."""
        found = normalised(self.dialect, self._raw)
        return found if self._counted and self.finished else replace(found, output_tokens=None)


def parsed(data: bytes) -> object:
    """The JSON value, or None for what is none."""
    try:
        found: object = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return found


def reader_for(dialect: Dialect, *, asked_for_usage: bool) -> Reader:
    """A reader for one answer."""
    if dialect is Dialect.OPENAI_CHAT:
        return Chat(asked_for_usage=asked_for_usage)
    return Responses() if dialect is Dialect.OPENAI_RESPONSES else Messages()
