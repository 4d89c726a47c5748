"""From runs to a domain: mean over the valid runs of a task, then the equal-weight mean over tasks.

A run that was not scored (infrastructure or judge fault) is None. There is no total across domains here, and
none may be built on top.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from math import comb
from typing import TypeAlias

from scoring.channel import FailureType
from scoring.run import RunScore

__all__ = ["DomainSummary", "RunScore", "reliability_at_k", "summarise"]

Runs: TypeAlias = Sequence[RunScore | None]
"""The prescribed runs of one task."""

_PRECISION = 40


@dataclass(frozen=True, slots=True)
class DomainSummary:
    """One domain of one evaluation run. Scores and shares are in [0, 1]; None where no task was valid.

    bounds: the task score if every missing run had scored 0, and if it had scored 1, over all prescribed
    tasks. success_rate: by the same two levels. failure_shares: over valid runs, every type of the list.
    """

    tasks_prescribed: int
    tasks_valid: int
    runs_prescribed: int
    runs_valid: int
    task_score: Decimal | None
    success_rate: Decimal | None
    bounds: tuple[Decimal, Decimal]
    failure_shares: Mapping[str, Decimal]

    @property
    def coverage(self) -> Decimal:
        """Valid runs out of those prescribed; 0 where none is prescribed."""
        return Decimal(self.runs_valid) / self.runs_prescribed if self.runs_prescribed else Decimal(0)

    @property
    def is_complete(self) -> bool:
        """Full coverage: only then is the result ranked."""
        return self.runs_valid == self.runs_prescribed


def summarise(tasks: Iterable[Runs]) -> DomainSummary:
    """Aggregate one domain; raises ValueError for a task without a prescribed run."""
    rows = [list(runs) for runs in tasks]
    if not all(rows):
        raise ValueError("a task has no prescribed run")
    valid = [[run for run in runs if run is not None] for runs in rows]
    with_runs = [runs for runs in valid if runs]
    scored = [run for runs in valid for run in runs]
    with localcontext(prec=_PRECISION):
        return DomainSummary(
            tasks_prescribed=len(rows),
            tasks_valid=len(with_runs),
            runs_prescribed=sum(map(len, rows)),
            runs_valid=len(scored),
            task_score=_mean(_mean(run.score for run in runs) for runs in with_runs),
            success_rate=_mean(_mean(Decimal(run.success) for run in runs) for runs in with_runs),
            bounds=(_with_missing(rows, Decimal(0)), _with_missing(rows, Decimal(1))),
            failure_shares=_shares(scored),
        )


def reliability_at_k(tasks: Iterable[Runs], k: int) -> Decimal | None:
    """Mean over tasks of C(c, k) / C(n, k) for c successes in n runs: the chance that k of k runs succeed.

    None while a prescribed run is missing; n may differ by task. Raises ValueError unless 1 ≤ k ≤ every n.
    """
    rows = [list(runs) for runs in tasks]
    if k < 1 or any(len(runs) < k for runs in rows):
        raise ValueError(f"k = {k} needs at least as many runs of every task")
    if any(run is None for runs in rows for run in runs):
        return None
    with localcontext(prec=_PRECISION):
        successes = [sum(run is not None and run.success for run in runs) for runs in rows]
        return _mean(
            Decimal(comb(c, k)) / comb(len(runs), k) for c, runs in zip(successes, rows, strict=True)
        )


def _mean(values: Iterable[Decimal | None]) -> Decimal | None:
    known = [value for value in values if value is not None]
    return sum(known, Decimal(0)) / len(known) if known else None


def _with_missing(rows: Sequence[Runs], missing: Decimal) -> Decimal:
    return _mean(_mean(missing if run is None else run.score for run in runs) for runs in rows) or Decimal(0)


def _shares(runs: Sequence[RunScore]) -> dict[str, Decimal]:
    counts = Counter(run.failure_type for run in runs)
    return {
        kind.value: Decimal(counts[kind.value]) / len(runs) if runs else Decimal(0) for kind in FailureType
    }
