"""From per-task results to sealed domain aggregates. Only governance workers run this; vendor-facing code cannot
import it (import rules), nor read its tables (grants)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeAlias
from uuid import UUID

from evaluation.models import Attempt, Episode, EvaluationRun, TaskResult
from governance.release import by_domain
from scoring import aggregate


@dataclass(frozen=True)
class DomainStatistics:
    """One domain of one run: the two-level means of `scoring.aggregate` and the means of what runs cost."""

    summary: aggregate.DomainSummary
    reliability: dict[int, Decimal | None]
    """reliability@k for k from 1 to the fewest runs of any task."""
    mean_seconds: float | None
    mean_tokens: float | None


@dataclass(frozen=True)
class GradedRun:
    """One prescribed run of one task. Without a valid result `score` is None, and the attempt is the last one made.

    `attempt_id` is None where none was made; `artefact` is the SHA-256 of what a valid run left.
    """

    task_id: UUID
    task_digest: str
    domain: str
    run_index: int
    score: aggregate.RunScore | None
    seconds: float | None = None
    tokens: int | None = None
    artefact: str = ""
    answer: str = ""
    """SHA-256 of what was answered, apart from how long it took; empty where it was not taken."""
    has_output: bool = False
    ending: str = ""
    """How a valid run ended, one of `Ending`."""
    grader: str = ""
    attempt_id: UUID | None = None
    attempt: int = 0


def runs_of(run: EvaluationRun) -> list[GradedRun]:
    """Every prescribed run of an evaluation run, in no order."""
    episodes = list(
        Episode.objects.filter(run=run).values_list(
            "id", "task_id", "task__digest", "task__domain", "run_index"
        )
    )
    results = {
        row.episode_id: row
        for row in TaskResult.objects.filter(episode__run=run).select_related("attempt").defer("items")
    }
    lost = _last_attempts([episode for episode, *_ in episodes if episode not in results])
    found = []
    for episode, task_id, digest, domain, index in episodes:
        place = (task_id, digest, domain, index)
        result = results.get(episode)
        found.append(_valid(place, result) if result else _missing(place, lost.get(episode)))
    return found


def _last_attempts(episodes: Sequence[int]) -> dict[int, Attempt]:
    """By episode, of those without a result: its last attempt. Asks nothing where there are none, as is usual."""
    if not episodes:
        return {}
    rows = Attempt.objects.filter(episode_id__in=episodes).order_by("number")
    return {row.episode_id: row for row in rows}


Place: TypeAlias = tuple[UUID, str, str, int]


def _valid(place: Place, result: TaskResult) -> GradedRun:
    return GradedRun(
        *place,
        score=aggregate.RunScore(
            score=result.score, success=result.success, failure_type=result.failure_type or None
        ),
        seconds=result.seconds,
        tokens=result.tokens,
        artefact=result.attempt.artefact_sha256,
        answer=result.attempt.answer_sha256,
        has_output=result.attempt.has_output,
        ending=result.ending,
        grader=result.grader_version,
        attempt_id=result.attempt_id,
        attempt=result.attempt.number,
    )


def _missing(place: Place, last: Attempt | None) -> GradedRun:
    if last is None:
        return GradedRun(*place, score=None)
    return GradedRun(*place, score=None, attempt_id=last.id, attempt=last.number)


def statistics(runs: Iterable[GradedRun]) -> dict[str, DomainStatistics]:
    """Statistics of every domain that these runs cover."""
    rows = by_domain((run.domain, run.task_digest, run) for run in runs)
    return {domain: _statistics(tasks) for domain, tasks in rows.items()}


def _statistics(tasks: list[list[GradedRun]]) -> DomainStatistics:
    rows = [[run.score for run in runs] for runs in tasks]
    seconds = [run.seconds for runs in tasks for run in runs if run.seconds is not None]
    tokens = [run.tokens for runs in tasks for run in runs if run.tokens is not None]
    return DomainStatistics(
        summary=aggregate.summarise(rows),
        reliability={k: aggregate.reliability_at_k(rows, k) for k in range(1, min(map(len, rows)) + 1)},
        mean_seconds=sum(seconds) / len(seconds) if seconds else None,
        mean_tokens=sum(tokens) / len(tokens) if tokens else None,
    )
