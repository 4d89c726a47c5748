"""What an event says, concealed, about an upstream."""

from __future__ import annotations

from audit.texts import concealed
from evaluation.upstreams.models import ModelUpstream


def described(upstream: ModelUpstream) -> str:
    """Name, address, model and limits in one line, as a salted hash."""
    parts = (
        upstream.name,
        upstream.dialect,
        upstream.base_url,
        upstream.snapshot,
        upstream.requests_per_minute,
        upstream.concurrency,
        upstream.input_price,
        upstream.cached_price,
        upstream.output_price,
    )
    return concealed(" ".join(str(part) for part in parts))


def ceiling_of(upstream: ModelUpstream) -> str:
    """Amount and currency."""
    return f"{upstream.ceiling:.2f} {upstream.currency}"
