"""From the channels' outcomes to the score of one run: the only place where they are put together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal

from scoring.channel import PLACES, FailureType, RuleOutcome

BUDGET_ENDING = "budget_exhausted"


@dataclass(frozen=True, slots=True)
class JudgeScore:
    """The judge channel of one run.

    score: J in [0, 1]. rule_weight: w, the share of the rule channel. passed: every item at its top level.
    """

    score: Decimal
    rule_weight: Decimal
    passed: bool


@dataclass(frozen=True, slots=True)
class RunScore:
    """Score in [0, 1], binary success, and for a run that is none its failure type (closed list)."""

    score: Decimal
    success: bool
    failure_type: str | None


def score_run(rule: RuleOutcome, judge: JudgeScore | None = None) -> RunScore:
    """S = 0 if a threshold or fatal rule failed; else R, or w·R + (1 − w)·J where the task has a judge."""
    if judge is None or rule.threshold_failed or rule.fatal_failed:
        return RunScore(rule.score, rule.success, rule.failure_type)
    score = (judge.rule_weight * rule.score + (1 - judge.rule_weight) * judge.score).quantize(PLACES)
    success = rule.success and judge.passed
    semantic = None if success else FailureType.INSUFFICIENT_SEMANTIC_QUALITY
    return RunScore(score, success, rule.failure_type or semantic)


def with_ending(run: RunScore, ending: str) -> RunScore:
    """A run that is no success and used up a budget failed for that reason, whatever else is missing."""
    if run.success or ending != BUDGET_ENDING:
        return run
    return replace(run, failure_type=FailureType.BUDGET_EXHAUSTED)
