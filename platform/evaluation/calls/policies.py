"""Pure rules of model calls: what they cost, what counts as an upstream that is down, who may read what is sent."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import NamedTuple

from evaluation.upstreams.models import Exposure, Outcome

MILLION = Decimal(1_000_000)
CENT = Decimal("0.000001")
DEAREST = Decimal(99_999_999)
"""What one call costs at the most: a provider may report any count, and the row must hold it."""
DOWN = frozenset({Outcome.UNREACHABLE, Outcome.TIMED_OUT, Outcome.UPSTREAM_FAILED, Outcome.NOT_THE_DIALECT})
"""What the platform's own probe must find before anything pauses.

A refused credential or a rate that is too high is not among them: the first is the owner's to mend, the second a
harness can bring about itself, and would be given further attempts for it.
"""
LEAST_EXPOSED_FIRST = (Exposure.SEALED, Exposure.THIRD_PARTY, Exposure.VENDOR_ENDPOINT)


class Prices(NamedTuple):
    """Of a million tokens, in the upstream's currency; None where none was stated."""

    input: Decimal | None
    cached: Decimal | None
    output: Decimal | None


def cost(
    prices: Prices, *, input_tokens: int | None, cached_tokens: int | None, output_tokens: int | None
) -> Decimal | None:
    """What a call cost, to a millionth; None where a count or a price is missing.

    `input_tokens` has the cached ones included; without a price of their own those cost as much as the others.
    """
    if prices.input is None or prices.output is None or input_tokens is None or output_tokens is None:
        return None
    cached = min(cached_tokens or 0, input_tokens)
    at_cached = prices.input if prices.cached is None else prices.cached
    sum_ = (input_tokens - cached) * prices.input + cached * at_cached + output_tokens * prices.output
    return min((sum_ / MILLION).quantize(CENT), DEAREST)


def at_most(prices: Prices, tokens: int) -> Decimal | None:
    """What `tokens` of unknown kind cost at the most; None without prices."""
    if prices.input is None or prices.output is None:
        return None
    return min((tokens * max(prices.input, prices.output) / MILLION).quantize(CENT), DEAREST)


def most_exposed(classes: Iterable[str]) -> str:
    """The class that counts for a harness with upstreams of `classes`; `sealed` where it calls none."""
    return max((Exposure(one) for one in classes), key=LEAST_EXPOSED_FIRST.index, default=Exposure.SEALED)


def may_pause(exposure: str) -> bool:
    """Whether an outage of such an upstream pauses. A vendor's own endpoint is the vendor's to keep up."""
    return exposure != Exposure.VENDOR_ENDPOINT


def is_down(outcome: str) -> bool:
    """Whether a probe with this outcome confirms an outage."""
    return outcome in DOWN
