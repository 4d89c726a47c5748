"""A hold is placed once, extended once, and ends before its result goes anywhere; two people extend or void."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from client.audit.rules.base import Rule, Seen, known_without_rule

known_without_rule(
    *("hold.ordered", "case.opened", "case.alarm_joined", "case.moved", "case.read"),
    *("case.question_asked", "case.question_answered"),
)


@dataclass(slots=True)
class _Hold:
    seen: int
    """Where it was placed: what is missed may have been withheld anywhere after that."""
    placed_by: str = ""
    extended: bool = False
    end: str = ""
    proposed: dict[str, tuple[str, str]] = field(default_factory=dict)
    """By decision: what is wanted, and who proposed it."""
    approved: set[str] = field(default_factory=set)


class Holds(Rule):
    """Of a submission there is one hold. What is missed before it may have been withheld."""

    kinds: ClassVar[frozenset[str]] = frozenset(
        {
            *("hold.placed", "hold.decision_proposed", "hold.decision_approved", "hold.decision_withdrawn"),
            *("hold.extended", "hold.ended", "submission.moved"),
        }
    )

    def __init__(self) -> None:
        self._holds: dict[str, _Hold] = {}

    def see(self, event: Seen) -> str | None:
        name, known = event.subject, self._holds.get(event.subject)
        if event.kind == "submission.moved":
            return self._moved(event, known)
        if event.kind == "hold.placed":
            self._holds[name] = _Hold(event.position, event.data.get("placed_by", ""))
            return f"the submission {name} is held a second time" if known else None
        if known is None:
            return None if event.excused() else f"{event.kind} is about {name}, which no entry holds"
        wrong = self._step(event, known)
        return None if wrong is None or event.excused(known.seen) else wrong

    def _step(self, event: Seen, hold: _Hold) -> str | None:
        data, name = event.data, event.subject
        if hold.end:
            return f"{event.kind} happens to the hold of {name}, which is over"
        if event.kind == "hold.decision_proposed":
            hold.proposed[data["decision"]] = (data["wanted"], data["proposed_by"])
            return None
        if event.kind == "hold.extended":
            again, hold.extended = hold.extended, True
            if again:
                return f"the hold of {name} is extended a second time"
            return _needs(hold, data["decision"], "extend", name)
        if event.kind == "hold.ended":
            return _ended(event, hold)
        wanted, proposed_by = hold.proposed.get(data["decision"], ("", ""))
        if wanted != data["wanted"]:
            return f"{event.kind} is about a decision on the hold of {name} that no entry proposes"
        if event.kind == "hold.decision_approved":
            hold.approved.add(data["decision"])
            if data["approved_by"] == proposed_by:
                return f"a decision on the hold of {name} is proposed and approved by one person alone"
        return None

    def _moved(self, event: Seen, hold: _Hold | None) -> str | None:
        if hold is None or event.data["before"] != "held":
            return None
        due = ("voided",) if event.data["after"] == "voided" else ("lifted", "released")
        if hold.end in due or event.excused(hold.seen):
            return None
        return f"the submission {event.subject} leaves its hold before that has ended"


def _needs(hold: _Hold, decision: str, wanted: str, name: str) -> str | None:
    if decision in hold.approved and hold.proposed.get(decision, ("", ""))[0] == wanted:
        return None
    return f"the hold of {name} is ended or extended without the two people whom that takes"


def _ended(event: Seen, hold: _Hold) -> str | None:
    data, name = event.data, event.subject
    hold.end = data["end"]
    if data["why"] == "two_people":
        return _needs(hold, data["decision"], "void", name)
    if data["why"] == "false_alarm" and hold.placed_by and hold.placed_by == data["ended_by"]:
        return f"the hold of {name} is ordered and lifted by one person alone"
    if data["end"] == "voided" and not data.get("ruling"):
        return f"the submission {name} is voided without two people or a ruling"
    return None
