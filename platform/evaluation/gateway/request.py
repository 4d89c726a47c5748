"""One request of a harness, read strictly and made into what the upstream is sent."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from evaluation.gateway import fields, parameters
from evaluation.gateway.contract import Dialect, Route, Rules
from evaluation.gateway.conversation import Checked, conversation
from evaluation.gateway.refusals import Code, Refusal
from evaluation.gateway.texts import plain

MOST_TOKENS, DEEPEST = 1_000_000, 100
"""Of JSON. A body of brackets and commas takes twenty times its size once it is read."""
MOST_TOOLS = 512
MOST_STRIPPED, STRIPPED_LENGTH = 100, 120
MODEL_LENGTH = 200

_TOKEN = re.compile(rb'"(?:[^"\\]+|\\.)*+"?|[\[\]{},]', re.DOTALL)
"""A string, be it without its end, or a sign of structure: each is passed once, whatever stands there."""


@dataclass(frozen=True)
class Request:
    """A request that may go on. `body` is what the upstream gets but for model and bound of output."""

    dialect: Dialect
    body: dict[str, Any]
    streaming: bool
    asked_for_usage: bool
    """Whether the harness itself wants the event with the usage of a chat stream."""
    parameters: Mapping[str, Any]
    tools: int
    stripped: tuple[str, ...]
    size: int
    """Bytes of the body in UTF-8 without what is inline."""
    inline: int
    """How many images, documents and recordings it holds."""
    most_output: int | None
    """As asked for; None where the harness leaves it to the upstream."""

    @property
    def least_output(self) -> int:
        """Below this bound of output the upstream would refuse."""
        thinking = self.body.get("thinking")
        spent = thinking.get("budget_tokens") if isinstance(thinking, Mapping) else None
        if self.dialect is Dialect.ANTHROPIC_MESSAGES and isinstance(spent, int):
            return max(0, spent) + 1
        return 16 if self.dialect is Dialect.OPENAI_RESPONSES else 1

    def bounded(self, tokens: int) -> Request:
        """The same with at most so many tokens of output."""
        name = {
            Dialect.OPENAI_CHAT: "max_tokens" if "max_tokens" in self.body else "max_completion_tokens",
            Dialect.OPENAI_RESPONSES: "max_output_tokens",
            Dialect.ANTHROPIC_MESSAGES: "max_tokens",
        }[self.dialect]
        return replace(self, body={**self.body, name: tokens}, most_output=tokens)

    def encoded(self, model: str) -> bytes:
        """What is sent."""
        return written({**self.body, "model": model})


def parsed(data: bytes) -> dict[str, Any]:
    """The body as an object. Raises Refusal."""
    _bounded(data)
    try:
        found: object = json.loads(data.decode("utf-8"), parse_constant=_no_number, parse_float=_number)
    except RecursionError:
        raise Refusal(Code.TOO_COMPLEX) from None
    except ValueError:
        raise Refusal(Code.NOT_JSON) from None
    if not isinstance(found, dict):
        raise Refusal(Code.NOT_JSON)
    return found


def _bounded(data: bytes) -> None:
    """Refuse what would take too much memory, or too deep a stack, to be read and written again. Raises Refusal."""
    depth = 0
    for number, token in enumerate(_TOKEN.finditer(data)):
        sign = data[token.start()]
        if sign in b"[{":
            depth += 1
        elif sign in b"]}":
            depth -= 1
        if depth > DEEPEST or number > MOST_TOKENS:
            raise Refusal(Code.TOO_COMPLEX)


def _no_number(name: str) -> object:
    raise ValueError(name)


def _number(text: str) -> float:
    found = float(text)
    if math.isinf(found):
        raise ValueError(text)
    return found


def model_of(body: Mapping[str, Any]) -> str:
    """The model that is asked for. Raises Refusal."""
    model = body.get("model")
    if not isinstance(model, str) or not 0 < len(model) <= MODEL_LENGTH:
        raise Refusal(Code.FIELD_INVALID, "model")
    return model


def made(given: Mapping[str, Any], route: Route, rules: Rules) -> Request:
    """The request as it may go on. Raises Refusal."""
    dialect, checked = route.dialect, Checked([])
    body = fields.passed(dialect, given, checked.stripped)
    streaming = _streaming(body)
    asked = _usage_asked(body)
    conversation(dialect, body, checked)
    offered = _tools(dialect, body, checked.stripped)
    _of_the_dialect(dialect, body, checked, streaming=streaming)
    parameters.held_to(rules, route.parameters, dialect, body)
    most = _most_output(dialect, body)
    return Request(
        dialect=dialect,
        body=body,
        streaming=streaming,
        asked_for_usage=asked,
        parameters=parameters.observed(dialect, body),
        tools=offered,
        stripped=tuple(plain(path, STRIPPED_LENGTH) for path in checked.stripped[:MOST_STRIPPED]),
        size=max(0, len(written(body)) - checked.inline_bytes),
        inline=checked.inline,
        most_output=most,
    )


def written(body: Mapping[str, Any]) -> bytes:
    """JSON in UTF-8; half a surrogate pair stays an escape. Raises Refusal."""
    try:
        return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        return json.dumps(body, separators=(",", ":")).encode()
    except RecursionError:
        raise Refusal(Code.TOO_COMPLEX) from None


def _streaming(body: dict[str, Any]) -> bool:
    streaming = body.get("stream", False)
    if not isinstance(streaming, bool):
        raise Refusal(Code.FIELD_INVALID, "stream")
    return streaming


def _usage_asked(body: dict[str, Any]) -> bool:
    options = body.pop("stream_options", None)
    return isinstance(options, Mapping) and options.get("include_usage") is True


def _tools(dialect: Dialect, body: dict[str, Any], stripped: list[str]) -> int:
    if "tools" not in body:
        return len(body["functions"]) if isinstance(body.get("functions"), list) else 0
    body["tools"] = fields.tools(dialect, body["tools"], stripped)
    if len(body["tools"]) > MOST_TOOLS:
        raise Refusal(Code.TOO_COMPLEX, "tools")
    return len(body["tools"])


def _of_the_dialect(dialect: Dialect, body: dict[str, Any], checked: Checked, *, streaming: bool) -> None:
    """What each dialect needs so that usage is reported and nothing is kept."""
    if dialect is Dialect.OPENAI_CHAT and streaming:
        body["stream_options"] = {"include_usage": True}
    if dialect is Dialect.OPENAI_RESPONSES:
        body["store"] = False
    if "include" in body:
        included = body["include"]
        if not isinstance(included, list):
            raise Refusal(Code.FIELD_INVALID, "include")
        checked.stripped += [f"include.{str(one)[:60]}" for one in included if one not in fields.INCLUDED]
        body["include"] = [one for one in included if one in fields.INCLUDED]
    choice = body.get("tool_choice")
    kind = choice.get("type") if isinstance(choice, Mapping) else None
    if kind not in (None, "auto", "any", "none", "tool", "function", "custom", "allowed_tools"):
        raise Refusal(Code.HOSTED_TOOL, "tool_choice.type")


def _most_output(dialect: Dialect, body: dict[str, Any]) -> int | None:
    """The bound of output that is asked for; of two the lower one stays. Raises Refusal."""
    bounds = []
    for name, *_ in parameters.PLACES[dialect]["maximum_output_tokens"]:
        if (value := body.get(name)) is not None:
            bounds.append(_positive(value, name))
    if dialect is Dialect.ANTHROPIC_MESSAGES and not bounds:
        raise Refusal(Code.FIELD_INVALID, "max_tokens")
    if len(bounds) > 1:
        body["max_completion_tokens"] = min(bounds)
        del body["max_tokens"]
    return min(bounds) if bounds else None


def choices(request: Request) -> int:
    """How many answers one call asks for. Raises Refusal."""
    return _positive(request.body.get("n", 1), "n") if request.dialect is Dialect.OPENAI_CHAT else 1


def _positive(value: object, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise Refusal(Code.FIELD_INVALID, name)
    return value
