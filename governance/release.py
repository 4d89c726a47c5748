"""The release function: the one place where a score becomes a number that somebody sees (governance, release policy).

Pure: exact scores in, shown values out. Web, API, mail and export all show what this returned once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_DOWN, Decimal
from types import MappingProxyType
from typing import TypeVar

from governance.disclosure.gate import Silence
from governance.disclosure.sides import FEWEST_TASKS, SMALLEST_DOMAIN
from scoring import grid, interval
from scoring.aggregate import DomainSummary

ENTERPRISE = ("finance", "supply_chain", "manufacturing")
DOMAINS = ("general", *ENTERPRISE)
COVERAGE_STEP = Decimal("0.01")

NO_SILENCES: Mapping[str, Silence] = MappingProxyType({})

T = TypeVar("T")


@dataclass(frozen=True)
class DomainScore:
    """A domain before release. `score` in [0, 1] over valid tasks; `low` and `high` bound it where runs are missing."""

    score: Decimal | None
    low: Decimal
    high: Decimal


@dataclass(frozen=True)
class ShownDomain:
    """Points on the grid; `low` and `high` only where the result is incomplete; `silence` where there is no value."""

    value: int | None
    half_width: int | None
    low: int | None = None
    high: int | None = None
    silence: Silence | None = None


@dataclass(frozen=True)
class Shown:
    domains: Mapping[str, ShownDomain]
    enterprise: ShownDomain
    coverage: str
    is_complete: bool

    def values(self) -> dict[str, dict[str, int]]:
        """What the event of the release names: value and half width by domain and of the enterprise mean."""
        rows = {**self.domains, "enterprise": self.enterprise}
        return {
            name: {"value": row.value, "h": row.half_width}
            for name, row in rows.items()
            if row.value is not None and row.half_width is not None
        }

    @property
    def reported(self) -> tuple[str, ...]:
        """Domains with a value."""
        return tuple(name for name, row in self.domains.items() if row.value is not None)

    @property
    def asked(self) -> int:
        """Domains whose value was shown, or only not shown because the ladder compared it with an earlier one."""
        return sum(row.value is not None or row.silence is Silence.LADDER for row in self.domains.values())

    @property
    def returns_use(self) -> bool:
        """Whether every domain is silent by a rule of release rather than for want of valid runs."""
        return all(row.silence not in (None, Silence.NO_VALID_RUN) for row in self.domains.values())

    def silent(self, why: Silence) -> Shown:
        """The same result with no value shown, nor which values the ladder would have kept back."""
        domains = {
            name: ShownDomain(
                None, None, silence=why if row.silence in (None, Silence.LADDER) else row.silence
            )
            for name, row in self.domains.items()
        }
        return Shown(domains, ShownDomain(None, None), self.coverage, self.is_complete)

    def silences(self) -> dict[str, str]:
        """Why there is no value, by domain without one."""
        return {name: row.silence.value for name, row in self.domains.items() if row.silence is not None}

    def bounds(self) -> dict[str, dict[str, int]]:
        """What it names besides where the result is incomplete, by domain."""
        return {
            name: {"low": row.low, "high": row.high}
            for name, row in self.domains.items()
            if row.low is not None and row.high is not None
        }


def by_domain(runs: Iterable[tuple[str, str, T]]) -> dict[str, list[list[T]]]:
    """Runs, given as (domain, digest of the task, run), by domain and task; tasks in the order of their digests.

    The order makes sums of rounded means come out the same for whoever computes them. Raises KeyError for a domain
    that there is not.
    """
    found: dict[str, dict[str, list[T]]] = {domain: {} for domain in DOMAINS}
    for domain, task, run in runs:
        found[domain].setdefault(task, []).append(run)
    return {domain: [tasks[task] for task in sorted(tasks)] for domain, tasks in found.items() if tasks}


def domain_score(summary: DomainSummary) -> DomainScore:
    """The score with its bounds: every missing run taken as 0, and as 1. No score where too few tasks are left."""
    low, high = summary.bounds
    return DomainScore(score=None if _is_thin(summary) else summary.task_score, low=low, high=high)


def _is_thin(summary: DomainSummary) -> bool:
    """Whether so few tasks of a domain have a valid run that a mean over them would tell of single ones.

    The bar of side figures, 60 of the 286 tasks of a domain, as a share of what is prescribed: a domain of which
    nothing is missing is never thin.
    """
    return summary.tasks_valid * SMALLEST_DOMAIN < summary.tasks_prescribed * FEWEST_TASKS


def release_summaries(
    summaries: Mapping[str, DomainSummary],
    *,
    half_widths: Mapping[str, Sequence[int]],
    silences: Mapping[str, Silence] = NO_SILENCES,
) -> Shown:
    """`release` of all domains of one submission, from their aggregates. Raises ValueError where no run is due."""
    prescribed = sum(summary.runs_prescribed for summary in summaries.values())
    if not prescribed:
        raise ValueError("there is nothing to release")
    return release(
        {domain: domain_score(summary) for domain, summary in summaries.items()},
        half_widths=half_widths,
        silences=silences,
        valid_runs=sum(summary.runs_valid for summary in summaries.values()),
        prescribed_runs=prescribed,
    )


def release(
    scores: Mapping[str, DomainScore],
    *,
    half_widths: Mapping[str, Sequence[int]],
    valid_runs: int,
    prescribed_runs: int,
    silences: Mapping[str, Silence] = NO_SILENCES,
) -> Shown:
    """Round half up to the 1-point grid, look up h for the shown value, and nothing else.

    A domain in `silences` shows nothing at all: no value, no bounds. Which ones those are was decided before.
    The enterprise value is the mean of its three shown values, rounded the same way; its half width depends on
    theirs alone. Coverage is rounded down, so that only a whole run says 1.00.
    """
    is_complete = valid_runs == prescribed_runs
    domains = {
        name: ShownDomain(None, None, silence=silences[name])
        if name in silences
        else _shown(score, half_widths[name], is_complete=is_complete)
        for name, score in scores.items()
    }
    coverage = (Decimal(valid_runs) / Decimal(prescribed_runs)).quantize(COVERAGE_STEP, rounding=ROUND_DOWN)
    return Shown(domains, _enterprise(domains), str(coverage), is_complete)


def points(score: Decimal) -> int:
    """A score of 0 to 1 on the grid."""
    return grid.half_up(score * 100)


def _shown(score: DomainScore, half_widths: Sequence[int], *, is_complete: bool) -> ShownDomain:
    if score.score is None:
        return ShownDomain(None, None, silence=Silence.NO_VALID_RUN)
    value = points(score.score)
    if is_complete:
        return ShownDomain(value, half_widths[value])
    return ShownDomain(value, half_widths[value], points(score.low), points(score.high))


def _enterprise(domains: Mapping[str, ShownDomain]) -> ShownDomain:
    parts = [domains[name] for name in ENTERPRISE]
    values = [part.value for part in parts if part.value is not None]
    widths = [part.half_width for part in parts if part.half_width is not None]
    if len(values) < len(ENTERPRISE):
        return ShownDomain(None, None)
    return ShownDomain(grid.macro(values), interval.macro_half_width(widths))
