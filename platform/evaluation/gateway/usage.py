"""What a provider reports about tokens, brought to one form: cached ones included in the input, absent is not zero.

Sources: the usage objects of OpenAI's chat completions and responses, and of Anthropic's messages, as their API
references describe them in 2026. OpenAI's `prompt_tokens` and `input_tokens` include cached tokens; Anthropic's
`input_tokens` does not, so what was read from and written to the cache is added.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from evaluation.gateway.contract import Dialect, Usage
from evaluation.gateway.texts import storable

MOST = 10**7
"""A count above this is no count."""
RAW_BYTES = 4096
"""A longer usage object is not kept; its counts are."""

_COUNTS = (
    *("prompt_tokens", "completion_tokens", "input_tokens", "output_tokens", "total_tokens"),
    *("cache_read_input_tokens", "cache_creation_input_tokens"),
)


def normalised(dialect: Dialect, raw: object) -> Usage:
    """The counts of one whole answer; nothing is reported where `raw` is no object, or an empty one."""
    if not isinstance(raw, Mapping) or not raw:
        return Usage()
    if dialect is Dialect.ANTHROPIC_MESSAGES:
        return _anthropic(raw)
    if dialect is Dialect.OPENAI_CHAT:
        return _chat(raw)
    return Usage(
        kept(raw),
        input_tokens=_count(raw, "input_tokens"),
        cached_tokens=_count(raw.get("input_tokens_details"), "cached_tokens"),
        output_tokens=_count(raw, "output_tokens"),
        reasoning_tokens=_count(raw.get("output_tokens_details"), "reasoning_tokens"),
    )


def _chat(raw: Mapping[str, Any]) -> Usage:
    cached = _count(raw.get("prompt_tokens_details"), "cached_tokens")
    return Usage(
        kept(raw),
        input_tokens=_count(raw, "prompt_tokens"),
        cached_tokens=_count(raw, "prompt_cache_hit_tokens") if cached is None else cached,
        output_tokens=_count(raw, "completion_tokens"),
        reasoning_tokens=_count(raw.get("completion_tokens_details"), "reasoning_tokens"),
    )


def _anthropic(raw: Mapping[str, Any]) -> Usage:
    fresh = _count(raw, "input_tokens")
    read, written = _count(raw, "cache_read_input_tokens"), _count(raw, "cache_creation_input_tokens")
    return Usage(
        kept(raw),
        input_tokens=None if fresh is None else fresh + (read or 0) + (written or 0),
        cached_tokens=read,
        output_tokens=_count(raw, "output_tokens"),
    )


def _count(table: object, name: str) -> int | None:
    value = table.get(name) if isinstance(table, Mapping) else None
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MOST:
        return None
    return value


def kept(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    """The provider's object as it is stored: whole, or where that cannot be its plain counts and a mark."""
    if storable(raw) and len(json.dumps(raw)) <= RAW_BYTES:
        return dict(raw)
    return {"too_long": True, **{name: raw[name] for name in _COUNTS if _count(raw, name) is not None}}
