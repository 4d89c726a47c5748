"""The three dialects, as far as one small call needs them: address, headers, body, and what an answer looks like."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from evaluation.upstreams.models import Dialect

QUESTION = "Reply with OK."
TOKENS = 16
"""The most that a trial call may make it write; the least that the responses dialect allows."""


@dataclass(frozen=True)
class Way:
    """How one dialect is spoken."""

    path: str
    headers: Callable[[str], dict[str, str]]
    body: Callable[[str], dict[str, Any]]
    is_answer: Callable[[Mapping[str, Any]], bool]


def _bearer(credential: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {credential}"}


def _key(credential: str) -> dict[str, str]:
    return {"x-api-key": credential, "anthropic-version": "2023-06-01"}


def _messages(model: str) -> dict[str, Any]:
    return {"model": model, "max_tokens": TOKENS, "messages": [{"role": "user", "content": QUESTION}]}


def _input(model: str) -> dict[str, Any]:
    return {"model": model, "max_output_tokens": TOKENS, "input": QUESTION, "store": False}


def _has(name: str) -> Callable[[Mapping[str, Any]], bool]:
    return lambda answer: isinstance(answer.get(name), list) and bool(answer[name])


WAYS: Mapping[str, Way] = {
    Dialect.OPENAI_CHAT: Way("/chat/completions", _bearer, _messages, _has("choices")),
    Dialect.OPENAI_RESPONSES: Way("/responses", _bearer, _input, _has("output")),
    Dialect.ANTHROPIC_MESSAGES: Way("/messages", _key, _messages, _has("content")),
}
