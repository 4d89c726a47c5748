"""What the verifier says about appeals from the events alone."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest

from tests.client import synthetic
from tests.client.test_rules import judged

DRAFT = {"number": 1, "ruling": "upheld", "text": "0:0", "effects": [], "proposed_by": "a"}
RULED = {"ruling": "upheld", "text": "0:0", "effects": [], "proposed_by": "a", "approved_by": "b"}
PATH = (("filed", "admitted"), ("admitted", "assigned"), ("assigned", "drafted"))


def moved(before: str, after: str) -> tuple[str, dict[str, Any]]:
    return "moved", {"before": before, "after": after, "cause": "x"}


def said(*steps: tuple[str, dict[str, Any]]) -> list[str]:
    write = synthetic.Scribe(12)
    subject = write.id()
    filing = {"about": "fault", "task_set": "t", "lineage": "l", "grounds": "0:0", "due": "d"}
    entries = [write.event("appeal.filed", "appeal", subject, **filing)]
    entries += [write.event(f"appeal.{word}", "appeal", subject, **facts) for word, facts in steps]
    return [wrong for _, wrong in judged(entries)]


def story(draft: dict[str, Any] = DRAFT, ruled: dict[str, Any] = RULED) -> list[tuple[str, dict[str, Any]]]:
    return [
        *(moved(*step) for step in PATH[:2]),
        ("drafted", draft),
        moved(*PATH[2]),
        ("ruled", ruled),
        moved("drafted", "ruled"),
        ("effect", {"effect": "refund", "result": "done"}),
        moved("ruled", "carried_out"),
    ]


def test_a_proper_story() -> None:
    assert said(*story()) == []
    assert said(("ruled", {**RULED, "ruling": "inadmissible"}), moved("filed", "inadmissible")) == []


@pytest.mark.parametrize(
    ("steps", "wrong"),
    [
        (story(ruled={**RULED, "approved_by": "a"}), "by one person alone"),
        (story(ruled={**RULED, "ruling": "rejected"}), "not the one that was drafted last"),
        ([moved("filed", "ruled")], "no legal move"),
        ([moved("filed", "inadmissible")], "without a ruling"),
        ([moved("admitted", "assigned")], "but it is filed"),
        ([("effect", {"effect": "refund", "result": "done"})], "carried out while it is filed"),
        ([*story(), ("ruled", RULED)], "a second time"),
    ],
)
def test_what_cannot_have_happened(steps: list[tuple[str, dict[str, Any]]], wrong: str) -> None:
    assert wrong in "; ".join(said(*steps))


NONCE = "ab" * 32
BOUND = hashlib.sha256(NONCE.encode()).hexdigest()
RECHECK: list[tuple[str, dict[str, Any]]] = [
    ("committed", {"commitment": BOUND, "word_due": "d"}),
    ("revealed", {}),
    ("drawn", {"seed": "s", "nonce": NONCE, "runs": 40}),
    ("shown", {"runs": 40, "below": 0}),
]


def told(*steps: tuple[str, dict[str, Any]], commitment: str = "c") -> str:
    write = synthetic.Scribe(13)
    subject = write.id()
    filing = {"about": "score", "task_set": "t", "lineage": "l", "grounds": "0:0", "due": "d"}
    filing |= {"commitment": commitment} if commitment else {}
    entries = [write.event("appeal.filed", "appeal", subject, **filing)]
    entries += [write.event(f"recheck.{word}", "appeal", subject, **facts) for word, facts in steps]
    return "; ".join(wrong for _, wrong in judged(entries))


def test_a_recheck_is_drawn_once_both_are_bound_and_by_the_committed_nonce() -> None:
    one, two, three, four = RECHECK
    assert told(*RECHECK) == ""
    assert "without a commitment of its vendor" in told(one, commitment="")
    assert "before the platform is bound" in told(two, one)
    assert "before both sides are bound" in told(one, three)
    assert "not the one" in told(one, two, ("drawn", {**three[1], "nonce": "cd" * 32}))
    assert "over other runs" in told(one, two, three, ("shown", {**four[1], "runs": 39}))
    assert "a second time" in told(one, one)
