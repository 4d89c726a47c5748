"""How items make the outcome of a run: threshold, fatal rules, modes, success, failure type, judge."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from scoring.channel import FailureType, RuleOutcome, ScriptRefused, grade
from scoring.run import JudgeScore, RunScore, score_run, with_ending
from tests.scoring.factory import cell, column, graded, ruleset, workspace

THRESHOLD = [{"id": "T1", "check": "delivered", "of": "result"}]
FATAL = [{"id": "F1", "check": "set", "at": column("单号"), "excludes": ["PO-3"], "trap": "unapproved"}]
ITEMS: list[dict[str, Any]] = [
    {"check": "exact", "at": cell("PO-1", "结论"), "expected": ["数量差异"]},
    {"check": "numeric", "at": cell("PO-1", "金额"), "expected": "10"},
    {"check": "numeric", "at": cell("PO-2", "金额"), "expected": "20"},
]
HEADER = "单号,金额,占比,结论\n"
GOOD = HEADER + "PO-1,10,,数量差异\nPO-2,20,,一致\n"
TWO_OF_THREE = HEADER + "PO-1,10,,数量差异\nPO-2,21,,一致\n"


def _outcome(tmp_path: Path, rows: str | None, **changes: Any) -> RuleOutcome:
    rules = ruleset(*ITEMS, threshold=THRESHOLD, fatal=FATAL, **changes)
    return graded(rules, workspace(tmp_path, {} if rows is None else {"结果.csv": rows}))


def test_everything_met_is_a_success(tmp_path: Path) -> None:
    outcome = _outcome(tmp_path, GOOD)
    assert outcome.score == 1
    assert (outcome.success, outcome.failure_type, outcome.failed) == (True, None, ())


def test_the_score_is_the_mean_of_the_ordinary_items(tmp_path: Path) -> None:
    outcome = _outcome(tmp_path, TWO_OF_THREE)
    assert outcome.score == Decimal("0.666666667")
    assert (outcome.success, outcome.failure_type, outcome.failed) == (
        False,
        FailureType.NUMERIC_OR_STATE_ERROR,
        ("R3",),
    )


def test_all_or_nothing_gives_nothing_for_two_of_three(tmp_path: Path) -> None:
    assert _outcome(tmp_path, TWO_OF_THREE, mode="all_or_nothing").score == 0
    assert _outcome(tmp_path, GOOD, mode="all_or_nothing").score == 1


def test_nothing_delivered_is_zero_by_the_threshold(tmp_path: Path) -> None:
    outcome = _outcome(tmp_path, None)
    assert outcome.score == 0
    assert not outcome.threshold_passed
    assert outcome.failure_type is FailureType.MISSING_DELIVERABLE


def test_a_fatal_rule_zeroes_and_stays_out_of_the_mean(tmp_path: Path) -> None:
    outcome = _outcome(tmp_path, GOOD + "PO-3,1,,x\n")
    assert outcome.score == 0
    assert (outcome.success, outcome.fatal_failed) == (False, ("F1",))
    assert [item.score for item in outcome.items] == [1, 1, 1]
    assert outcome.failure_type is FailureType.BUSINESS_CONSTRAINT_VIOLATION


def test_a_duplicate_row_cannot_hide_an_excluded_one(tmp_path: Path) -> None:
    outcome = _outcome(tmp_path, GOOD + "PO-3,1,,x\nPO-1,10,,数量差异\n")
    assert outcome.fatal_failed == ("F1",)


def test_a_broken_table_fails_its_items_and_not_the_fatal_rule(tmp_path: Path) -> None:
    outcome = _outcome(tmp_path, GOOD + "PO-1,10,,数量差异\n")
    assert (outcome.threshold_passed, outcome.fatal_failed) == (True, ())
    assert {item.reason.value for item in outcome.items} == {"contract_broken"}
    assert outcome.failure_type is FailureType.NUMERIC_OR_STATE_ERROR


def test_without_a_threshold_an_absent_artefact_is_still_the_failure(tmp_path: Path) -> None:
    outcome = graded(ruleset(*ITEMS, fatal=FATAL), workspace(tmp_path, {}))
    assert outcome.score == 0
    assert outcome.failure_type is FailureType.MISSING_DELIVERABLE


def test_grading_twice_gives_the_same(tmp_path: Path) -> None:
    assert _outcome(tmp_path / "a", TWO_OF_THREE) == _outcome(tmp_path / "b", TWO_OF_THREE)


def test_a_script_gives_its_score_and_its_fault_comes_through(tmp_path: Path) -> None:
    rules = ruleset({"check": "script", "script": "grading/check.py"}, ITEMS[0])
    artefacts = workspace(tmp_path, {"结果.csv": GOOD})
    assert grade(rules, artefacts, lambda path: Decimal("0.5")).score == Decimal("0.75")
    with pytest.raises(ScriptRefused):
        grade(rules, artefacts)


def test_the_judge_joins_by_its_weight(tmp_path: Path) -> None:
    rule = _outcome(tmp_path, GOOD)
    judge = JudgeScore(score=Decimal("0.5"), rule_weight=Decimal("0.6"), passed=False)
    assert score_run(rule) == RunScore(Decimal(1), True, None)
    assert score_run(rule, judge) == RunScore(
        Decimal("0.8"), False, FailureType.INSUFFICIENT_SEMANTIC_QUALITY
    )
    full = JudgeScore(score=Decimal(1), rule_weight=Decimal("0.6"), passed=True)
    assert score_run(rule, full) == RunScore(Decimal(1), True, None)


def test_the_judge_cannot_lift_a_zeroed_run(tmp_path: Path) -> None:
    judge = JudgeScore(score=Decimal(1), rule_weight=Decimal("0.1"), passed=True)
    assert score_run(_outcome(tmp_path, None), judge).score == 0


def test_a_used_up_budget_is_the_first_reason_of_a_failure(tmp_path: Path) -> None:
    failed, good = score_run(_outcome(tmp_path, None)), score_run(_outcome(tmp_path / "b", GOOD))
    assert with_ending(failed, "budget_exhausted").failure_type == "budget_exhausted"
    assert with_ending(failed, "crashed") == failed
    assert with_ending(good, "budget_exhausted") == good
