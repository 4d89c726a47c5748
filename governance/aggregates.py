"""From per-task results to sealed domain aggregates. Only governance workers run this; vendor-facing code cannot
import it (import rules), nor read its tables (grants)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from benchmark.models import Domain
from evaluation.models import Episode, EvaluationRun, TaskResult
from governance.release import DomainScore
from scoring import aggregate


@dataclass(frozen=True)
class DomainStatistics:
    """One domain of one run: the two-level means of `scoring.aggregate` and the means of what runs cost."""

    summary: aggregate.DomainSummary
    reliability: dict[int, Decimal | None]
    """reliability@k for k from 1 to the fewest runs of any task."""
    mean_seconds: float | None
    mean_tokens: float | None


def of_run(run: EvaluationRun) -> dict[str, DomainStatistics]:
    """Statistics of every domain that the run's tasks cover."""
    episodes = Episode.objects.filter(run=run).values_list("task_id", "task__domain", "id")
    results = {row.episode_id: row for row in TaskResult.objects.filter(episode__run=run)}
    tasks: dict[str, dict[Any, list[TaskResult | None]]] = {domain.value: {} for domain in Domain}
    for task_id, domain, episode_id in episodes:
        tasks[domain].setdefault(task_id, []).append(results.get(episode_id))
    return {domain: _statistics(found.values()) for domain, found in tasks.items() if found}


def _statistics(tasks: Iterable[list[TaskResult | None]]) -> DomainStatistics:
    rows = [[_score(result) for result in runs] for runs in tasks]
    valid = [result for runs in tasks for result in runs if result is not None]
    tokens = [result.tokens for result in valid if result.tokens is not None]
    return DomainStatistics(
        summary=aggregate.summarise(rows),
        reliability={k: aggregate.reliability_at_k(rows, k) for k in range(1, min(map(len, rows)) + 1)},
        mean_seconds=sum(result.seconds for result in valid) / len(valid) if valid else None,
        mean_tokens=sum(tokens) / len(tokens) if tokens else None,
    )


def _score(result: TaskResult | None) -> aggregate.RunScore | None:
    if result is None:
        return None
    return aggregate.RunScore(
        score=result.score, success=result.success, failure_type=result.failure_type or None
    )


def domain_score(statistics: DomainStatistics) -> DomainScore:
    """The score with its bounds: every missing run taken as 0, and as 1."""
    low, high = statistics.summary.bounds
    return DomainScore(score=statistics.summary.task_score, low=low, high=high)
