"""Parameters of a call under one name in every dialect: read, held against what is locked, and written down."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from evaluation.gateway.contract import PARAMETERS, Dialect, Rules
from evaluation.gateway.refusals import Code, Refusal
from evaluation.gateway.texts import storable

Path = tuple[str, ...]

SHOWN = 200
"""Characters of a value as JSON; a longer one is recorded by its digest."""

_SAME = ("temperature", "top_p", "top_k", "tool_choice")
_CHAT_ONLY = ("min_p", "n", "presence_penalty", "frequency_penalty", "repetition_penalty", "logit_bias")

PLACES: Mapping[Dialect, Mapping[str, tuple[Path, ...]]] = {
    Dialect.OPENAI_CHAT: {
        **{
            name: ((name,),)
            for name in (
                *(*_SAME, *_CHAT_ONLY),
                *("seed", "stop", "verbosity", "response_format", "parallel_tool_calls"),
            )
        },
        "maximum_output_tokens": (("max_completion_tokens",), ("max_tokens",)),
        "reasoning": (("reasoning_effort",), ("reasoning",), ("thinking",), ("enable_thinking",)),
    },
    Dialect.OPENAI_RESPONSES: {
        **{name: ((name,),) for name in (*_SAME, "seed", "parallel_tool_calls")},
        "maximum_output_tokens": (("max_output_tokens",),),
        "reasoning": (("reasoning", "effort"),),
        "verbosity": (("text", "verbosity"),),
        "response_format": (("text", "format"),),
    },
    Dialect.ANTHROPIC_MESSAGES: {
        **{name: ((name,),) for name in _SAME},
        "stop": (("stop_sequences",),),
        "maximum_output_tokens": (("max_tokens",),),
        "reasoning": (("output_config", "effort"), ("thinking",)),
        "response_format": (("output_config", "format"), ("output_format",)),
    },
}
"""Where a parameter may stand; the first place is where a locked one is written that the harness left out."""


def held_to(rules: Rules, declared: Mapping[str, Any], dialect: Dialect, body: dict[str, Any]) -> None:
    """Refuse another value of a locked parameter, fill in an absent one. Raises Refusal."""
    for name in (name for name in PARAMETERS if name in rules.locked):
        places = PLACES[dialect].get(name, ())
        given = [(path, value) for path in places if (value := _at(body, path)) is not None]
        for path, value in given:
            if name not in declared or value != declared[name]:
                raise Refusal(Code.PARAMETER_LOCKED, ".".join(path))
        if not given and places and name in declared:
            _put(body, places[0], declared[name])


def observed(dialect: Dialect, body: Mapping[str, Any]) -> dict[str, Any]:
    """Every parameter that the call has, by the common names; long values by their digest."""
    found = {}
    for name, places in PLACES[dialect].items():
        values = [value for path in places if (value := _at(body, path)) is not None]
        if values:
            found[name] = _short(values[0])
    return found


def _short(value: object) -> object:
    text = json.dumps(value, sort_keys=True)
    return (
        value
        if len(text) <= SHOWN and storable(value)
        else "sha256:" + hashlib.sha256(text.encode()).hexdigest()
    )


def _at(body: Mapping[str, Any], path: Path) -> object:
    found: object = body
    for name in path:
        found = found.get(name) if isinstance(found, Mapping) else None
    return found


def _put(body: dict[str, Any], path: Path, value: object) -> None:
    for name in path[:-1]:
        inner = body.get(name)
        body[name] = dict(inner) if isinstance(inner, Mapping) else {}
        body = body[name]
    body[path[-1]] = value
