"""What the verifier says about notices to owners from the events alone."""

from __future__ import annotations

from typing import Any

import pytest

from tests.client import synthetic
from tests.client.test_rules import judged

AT = "2026-12-01T00:00:00.000000Z"
FACTS: dict[str, dict[str, Any]] = {
    "ordered": {"ordered_by": "x"},
    "given_up": {"attempts": 7},
    "sent": {"publishable_from": AT},
}


def said(*words: str) -> list[str]:
    write = synthetic.Scribe(11)
    subject = write.id()
    entries = [
        write.event(f"owner_notice.{word}", "submission", subject, **FACTS.get(word, {"objection": "o"}))
        for word in words
    ]
    return [wrong for _, wrong in judged(entries)]


@pytest.mark.parametrize(
    "story",
    [
        "ordered sent objected",
        "ordered given_up",
        "ordered given_up ordered sent objected",
        "ordered given_up ordered given_up ordered sent",
    ],
)
def test_a_proper_story(story: str) -> None:
    assert said(*story.split()) == []


@pytest.mark.parametrize(
    ("story", "wrong"),
    [
        ("sent", "without owner_notice.ordered"),
        ("given_up", "without owner_notice.ordered"),
        ("ordered objected", "without owner_notice.sent"),
        ("ordered ordered", "a second time"),
        ("ordered sent sent", "a second time"),
        ("ordered given_up sent", "without owner_notice.ordered"),
        ("ordered given_up given_up", "without owner_notice.ordered"),
        ("ordered sent given_up", "whose owner was told"),
    ],
)
def test_what_cannot_have_happened(story: str, wrong: str) -> None:
    found = said(*story.split())
    assert len(found) == 1
    assert wrong in found[0]
