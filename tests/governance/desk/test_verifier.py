"""What an outsider's verifier knows of holds: one of a submission, two people, nothing out before the end."""

from __future__ import annotations

from typing import Any

import pytest

from client.audit.rules.base import Seen
from client.audit.rules.holds import Holds

Told = tuple[str, dict[str, Any]]


def story(*events: Told, withheld: int = -1) -> list[str]:
    rule = Holds()
    seen = (Seen(at, kind, "s", "ok", data, withheld) for at, (kind, data) in enumerate(events))
    return [wrong for wrong in map(rule.see, seen) if wrong]


PLACED: Told = ("hold.placed", {"hold": "h", "rule": "contrast", "placed_by": "a"})
PROPOSED: Told = ("hold.decision_proposed", {"decision": "d", "wanted": "void", "proposed_by": "a"})
APPROVED: Told = ("hold.decision_approved", {"decision": "d", "wanted": "void", "approved_by": "b"})
VOIDED: Told = ("hold.ended", {"end": "voided", "why": "two_people", "decision": "d"})
LIFTED: Told = ("hold.ended", {"end": "lifted", "why": "false_alarm", "ended_by": "b"})
OVER: Told = ("hold.ended", {"end": "released", "why": "deadline"})
GONE: Told = ("submission.moved", {"before": "held", "after": "voided"})
OUT: Told = ("submission.moved", {"before": "held", "after": "complete"})
ASKED: Told = ("hold.decision_proposed", {"decision": "e", "wanted": "extend", "proposed_by": "a"})
AGREED: Told = ("hold.decision_approved", {"decision": "e", "wanted": "extend", "approved_by": "b"})
LONGER: Told = ("hold.extended", {"decision": "e", "until": "t"})


@pytest.mark.parametrize(
    "events",
    [
        (PLACED, PROPOSED, APPROVED, VOIDED, GONE),
        (PLACED, LIFTED, OUT),
        (PLACED, ASKED, AGREED, LONGER, OVER, OUT),
        (OUT,),
    ],
)
def test_what_services_do_is_in_order(events: tuple[Told, ...]) -> None:
    assert story(*events) == []


WRONG: list[tuple[tuple[Told, ...], str]] = [
    ((PLACED, PLACED), "a second time"),
    ((PLACED, OUT), "before that has ended"),
    ((PLACED, OVER, GONE), "before that has ended"),
    ((PLACED, PROPOSED, VOIDED), "without the two people"),
    ((PLACED, ASKED, AGREED, ("hold.ended", {**VOIDED[1], "decision": "e"})), "without the two people"),
    ((PLACED, PROPOSED, ("hold.decision_approved", {**APPROVED[1], "approved_by": "a"})), "one person alone"),
    ((PLACED, ("hold.ended", {**LIFTED[1], "ended_by": "a"})), "one person alone"),
    ((PLACED, ASKED, AGREED, LONGER, LONGER), "a second time"),
    ((PLACED, OVER, LIFTED), "is over"),
    ((PLACED, APPROVED), "no entry proposes"),
    ((PLACED, ("hold.ended", {"end": "voided", "why": "deadline"})), "without two people or a ruling"),
    ((LIFTED,), "no entry holds"),
]


@pytest.mark.parametrize(("events", "said"), WRONG)
def test_what_no_service_does_is_found(events: tuple[Told, ...], said: str) -> None:
    assert any(said in wrong for wrong in story(*events))


def test_what_may_have_been_withheld_accuses_nobody() -> None:
    assert story(PLACED, PROPOSED, VOIDED, GONE, withheld=2) == []
