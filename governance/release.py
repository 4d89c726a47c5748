"""The release function: the one place where a score becomes a number that somebody sees (governance, release policy).

Pure: exact scores in, shown values out. Web, API, mail and export all show what this returned once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_DOWN, Decimal

from scoring import grid, interval

ENTERPRISE = ("finance", "supply_chain", "manufacturing")
COVERAGE_STEP = Decimal("0.01")


@dataclass(frozen=True)
class DomainScore:
    """A domain before release. `score` in [0, 1] over valid tasks; `low` and `high` bound it where runs are missing."""

    score: Decimal | None
    low: Decimal
    high: Decimal


@dataclass(frozen=True)
class ShownDomain:
    """Points on the grid; `low` and `high` only where the result is incomplete."""

    value: int | None
    half_width: int | None
    low: int | None = None
    high: int | None = None


@dataclass(frozen=True)
class Shown:
    domains: Mapping[str, ShownDomain]
    enterprise: ShownDomain
    coverage: str
    is_complete: bool


def release(
    scores: Mapping[str, DomainScore],
    *,
    half_widths: Mapping[str, Sequence[int]],
    valid_runs: int,
    prescribed_runs: int,
) -> Shown:
    """Round half up to the 1-point grid, look up h for the shown value, and nothing else.

    The enterprise value is the mean of its three shown values, rounded the same way; its half width depends on
    theirs alone. Coverage is rounded down, so that only a whole run says 1.00.
    """
    is_complete = valid_runs == prescribed_runs
    domains = {
        name: _shown(score, half_widths[name], is_complete=is_complete) for name, score in scores.items()
    }
    coverage = (Decimal(valid_runs) / Decimal(prescribed_runs)).quantize(COVERAGE_STEP, rounding=ROUND_DOWN)
    return Shown(domains, _enterprise(domains), str(coverage), is_complete)


def _points(score: Decimal) -> int:
    return grid.half_up(score * 100)


def _shown(score: DomainScore, half_widths: Sequence[int], *, is_complete: bool) -> ShownDomain:
    if score.score is None:
        return ShownDomain(None, None)
    value = _points(score.score)
    if is_complete:
        return ShownDomain(value, half_widths[value])
    return ShownDomain(value, half_widths[value], _points(score.low), _points(score.high))


def _enterprise(domains: Mapping[str, ShownDomain]) -> ShownDomain:
    parts = [domains[name] for name in ENTERPRISE]
    values = [part.value for part in parts if part.value is not None]
    widths = [part.half_width for part in parts if part.half_width is not None]
    if len(values) < len(ENTERPRISE):
        return ShownDomain(None, None)
    return ShownDomain(grid.macro(values), interval.macro_half_width(widths))
