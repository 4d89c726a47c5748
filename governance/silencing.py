"""Which domains of a finished submission show no value, from its behaviour and what its lineage was told before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from governance.aggregates import DomainStatistics
from governance.behaviour import Answer, Observed, earlier_answers
from governance.disclosure import gate, ladder
from governance.disclosure.gate import Silence, Silenced
from governance.models import ReleasePolicy
from governance.release import domain_score, points
from submissions.models import Submission


def silenced(
    submission: Submission,
    policy: ReleasePolicy,
    now: Observed,
    statistics: Mapping[str, DomainStatistics],
) -> dict[str, Silenced[Submission]]:
    """By domain without a value of its own. Rows from before there was a gate silence nothing."""
    if policy.fewest_changed is None:
        return {}
    earlier = earlier_answers(submission)
    found = gate.silences(
        now.behaviour,
        now.noise,
        [answer.known() for answer in earlier],
        grid_points=policy.grid_points,
        runs_per_task=submission.runs_per_task,
        fewest_changed=policy.fewest_changed,
    )
    if policy.rule == ReleasePolicy.Rule.GROWING_LADDER:
        for domain in statistics.keys() - found.keys():
            best = _not_beaten(domain, statistics[domain], now, earlier, policy.grid_points)
            if best is not None:
                found[domain] = Silenced(Silence.LADDER, best)
    return found


def _not_beaten(
    domain: str, statistics: DomainStatistics, now: Observed, earlier: Sequence[Answer], grid_points: int
) -> Submission | None:
    """The earlier submission with the best value of the domain, where this one does not beat it by enough."""
    shown = [answer for answer in earlier if answer.values.get(domain) is not None]
    score = domain_score(statistics.summary).score
    if not shown or score is None:
        return None
    best = max(shown, key=lambda answer: answer.values[domain] or 0)
    asked = sum(
        answer.values.get(domain) is not None or answer.reasons.get(domain) == Silence.LADDER
        for answer in earlier
    )
    error = ladder.paired_error(_differences(now.means[domain], best.observed.means[domain]))
    is_shown = ladder.is_shown(
        points(score), best.values[domain], answers=asked + 1, paired_error=error, grid_points=grid_points
    )
    return None if is_shown else best.submission


def _differences(one: Mapping[str, Fraction], other: Mapping[str, Fraction]) -> list[Fraction]:
    return [score - other[task] for task, score in one.items() if task in other]
