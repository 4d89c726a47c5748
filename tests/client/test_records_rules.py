"""What the verifier says about corrections, problems and public lines from the events alone."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from tests.client import synthetic
from tests.client.test_rules import judged

ORDER = {"submission": "s", "cause": "ruling", "reference": "", "people": ["a", "b"]}
ENDED = {"submission": "s", "runs": 4, "runs_root": "r", "grader": "g", "changes_values": "yes"}
CORRECTED = {"regrading": "o", "cause": "ruling", "policy": "p", "values": {}, "runs_root": "r"}
REPORTED = {"task_set": "t", "source": "staff", "part": "rules", "evidence": "0:0"}
Step = tuple[str, str, str, dict[str, Any]]


def said(*steps: Step) -> str:
    write = synthetic.Scribe(12)
    entries = [write.event(kind, type_, subject, **facts) for kind, type_, subject, facts in steps]
    return "; ".join(
        wrong for _, wrong in judged(entries) if "begins" not in wrong and "released" not in wrong
    )


def order(**other: Any) -> Step:
    return ("regrading.ordered", "regrading", "o", {**ORDER, **other})


def ended(**other: Any) -> Step:
    return ("regrading.ended", "regrading", "o", {**ENDED, **other})


def corrected(**other: Any) -> Step:
    return ("result.corrected", "submission", "s", {**CORRECTED, **other})


def problem(*path: str, fixed_in: str | None = None) -> list[Step]:
    steps: list[Step] = [("problem.reported", "problem", "x", REPORTED)]
    for before, after in pairwise(path):
        facts = {"before": before, "after": after, "reason": "0:0"}
        if fixed_in and after == "settled":
            facts["fixed_in"] = fixed_in
        steps.append(("problem.moved", "problem", "x", facts))
    return steps


def line(kind: str) -> Step:
    facts = {"line": "policy", "said": {}} if kind == "added" else {"release_date": "d", "label": "e"}
    return (f"change_log.{kind}", "change_log_line", "l", facts)


WAY = ("reported", "confirmed", "mended", "settled")


@pytest.mark.parametrize(
    ("steps", "wrong"),
    [
        ([order(people=["a", "a"])], "not two people's"),
        ([order()], "before its release"),
        ([ended()], "without an order"),
        ([order(), ended(submission="z")], "on another submission"),
        ([order(), ended(), ended()], "carried out a second time"),
        ([corrected()], "without grading again"),
        ([order(), ended(changes_values="no"), corrected()], "not what grading again led to"),
        ([order(), ended(), corrected(runs_root="q")], "not what grading again led to"),
        (problem("reported", "settled", fixed_in="v"), "does not move"),
        (problem(*WAY), "settled by no version"),
        (problem("confirmed", "mended"), "was reported, not confirmed"),
        (problem("reported", "confirmed")[1:], "was never reported"),
        ([line("dated")], "was never said"),
        ([line("added"), line("dated"), line("dated")], "a second document"),
    ],
)
def test_what_cannot_have_happened(steps: list[Step], wrong: str) -> None:
    write = synthetic.Scribe(12)
    entries = [write.event(kind, type_, subject, **facts) for kind, type_, subject, facts in steps]
    assert wrong in "; ".join(found for _, found in judged(entries))


def test_proper_stories() -> None:
    assert said(*problem(*WAY, fixed_in="v")) == ""
    assert said(line("added"), line("dated")) == ""
    found = said(order(), ended(), corrected())
    assert "grading again led" not in found
    assert "two people" not in found
