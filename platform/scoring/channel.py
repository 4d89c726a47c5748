"""The rule channel: all rules of a task over the artefacts of one run. Pure and deterministic.

Failure type of a run that is no success, by the first that applies:
1. missing_deliverable: a threshold rule failed, or every other rule that failed lacked its artefact;
2. business_constraint_violation: a fatal rule failed;
3. numeric_or_state_error: an ordinary item is not fully met.
How the run ended and the judge's verdict join in `scoring.run`.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

from scoring.artefacts import Artefacts, Reason
from scoring.checkers import ONE, ZERO, ScriptRunner, evaluate
from scoring.evidence import Evidence
from scoring.model import Mode, Rule, RuleSet

# Nine places: the rounding lies far below what one item of 200 or a domain of 500 tasks can move.
PLACES = Decimal("1e-9")
_ABSENT = frozenset({Reason.MISSING, Reason.COLUMN_MISSING})


class FailureType(StrEnum):
    """The closed list of failure types, in the order of precedence used here."""

    BUDGET_EXHAUSTED = "budget_exhausted"
    MISSING_DELIVERABLE = "missing_deliverable"
    BUSINESS_CONSTRAINT_VIOLATION = "business_constraint_violation"
    NUMERIC_OR_STATE_ERROR = "numeric_or_state_error"
    INSUFFICIENT_SEMANTIC_QUALITY = "insufficient_semantic_quality"


class ScriptRefused(RuntimeError):
    """A rule wants a script and the caller gave no way to run one."""


@dataclass(frozen=True, slots=True)
class ItemOutcome:
    """Score of one rule in [0, 1] and why."""

    id: str
    score: Decimal
    reason: Reason


@dataclass(frozen=True, slots=True)
class RuleOutcome:
    """What the rule channel says of one run.

    score: the rule-only score, 0 where a threshold or fatal rule failed. items: the ordinary rules.
    """

    score: Decimal
    success: bool
    threshold_failed: tuple[str, ...]
    fatal_failed: tuple[str, ...]
    items: tuple[ItemOutcome, ...]
    failure_type: FailureType | None

    @property
    def threshold_passed(self) -> bool:
        """Whether the core delivery threshold was passed."""
        return not self.threshold_failed

    @property
    def failed(self) -> tuple[str, ...]:
        """Ids of all rules that are not fully met, in the order of the rule set."""
        items = tuple(item.id for item in self.items if item.score < ONE)
        return self.threshold_failed + self.fatal_failed + items


def grade(
    ruleset: RuleSet,
    artefacts: Artefacts,
    run_script: ScriptRunner | None = None,
    effort: AbstractContextManager[object] | None = None,
) -> RuleOutcome:
    """Grade one run. Whatever the artefacts hold, this returns; only `run_script` may raise.

    `effort` is entered for each check; an ArtefactError that it raises fails that check.
    """
    evidence = Evidence(ruleset, artefacts)
    runner, bound = run_script or _refuse, effort or nullcontext()

    def outcomes(rules: Sequence[Rule]) -> tuple[ItemOutcome, ...]:
        return tuple(ItemOutcome(rule.id, *evaluate(rule.check, evidence, runner, bound)) for rule in rules)

    threshold = _failed(outcomes(ruleset.threshold))
    fatal, items = outcomes(ruleset.fatal), outcomes(ruleset.items)
    zeroed = bool(threshold or _failed(fatal))
    return RuleOutcome(
        score=ZERO if zeroed else combine(ruleset.mode, [item.score for item in items]),
        success=not zeroed and not _failed(items),
        threshold_failed=threshold,
        fatal_failed=_failed(fatal),
        items=items,
        failure_type=_failure_type(threshold, fatal, items),
    )


def combine(mode: Mode, scores: Sequence[Decimal]) -> Decimal:
    """R: the mean of the item scores, or 1 only where each is 1; nine places."""
    if mode is Mode.ALL_OR_NOTHING:
        return ONE if all(score == ONE for score in scores) else ZERO
    return (sum(scores, ZERO) / len(scores)).quantize(PLACES).normalize()


def _failed(outcomes: Sequence[ItemOutcome]) -> tuple[str, ...]:
    return tuple(outcome.id for outcome in outcomes if outcome.score < ONE)


def _failure_type(
    threshold: Sequence[str], fatal: Sequence[ItemOutcome], items: Sequence[ItemOutcome]
) -> FailureType | None:
    failed = [outcome for outcome in (*fatal, *items) if outcome.score < ONE]
    if threshold or (failed and all(outcome.reason in _ABSENT for outcome in failed)):
        return FailureType.MISSING_DELIVERABLE
    if any(outcome.score < ONE for outcome in fatal):
        return FailureType.BUSINESS_CONSTRAINT_VIOLATION
    return FailureType.NUMERIC_OR_STATE_ERROR if failed else None


def _refuse(path: str) -> Decimal:
    raise ScriptRefused(path)
