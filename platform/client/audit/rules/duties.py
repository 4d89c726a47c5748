"""Duties: two different people behind each, none that exclude each other at one time, none beside what vendors do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from client.audit.rules.base import Rule, Seen

FOUR = ("task_author", "evaluation_engineer", "scoring_maintainer", "held_out_governor")
CONFLICTS = frozenset(
    {
        *(frozenset({one, other}) for one in FOUR for other in FOUR if one != other),
        *(frozenset({"arbiter", duty}) for duty in FOUR),
        *(frozenset({"administrator", duty}) for duty in (*FOUR, "arbiter")),
        *(frozenset({"identity_reviewer", duty}) for duty in ("held_out_governor", "arbiter")),
        *(frozenset({"auditor", duty}) for duty in (*FOUR, "arbiter", "identity_reviewer", "administrator")),
    }
)
"""Pairs that nobody holds at one time; a test compares them with the platform's."""
KEPT_APART = frozenset({*FOUR, "arbiter", "auditor", "identity_reviewer"})
"""Duties that no member of an organisation holds that can submit."""


@dataclass
class _Held:
    """A duty that somebody was given. `since` is the entry that confirmed it; instants compare as texts."""

    account: str
    duty: str
    begins: str
    ends: str
    since: int = -1

    def meets(self, other: _Held) -> bool:
        return max(self.begins, other.begins) < min(self.ends, other.ends)

    def at(self, instant: str) -> bool:
        return self.begins <= instant < self.ends


class Steps(Rule):
    """Proposed by one, confirmed by another, reviewed by somebody else than who holds it, ended once."""

    kinds: ClassVar[frozenset[str]] = frozenset(
        {"duties.begun", "duty.proposed", "duty.confirmed", "duty.reviewed", "duty.ended"}
    )

    def __init__(self) -> None:
        self._begun = False
        self._proposed: dict[str, dict[str, Any]] = {}
        self._confirmed: set[str] = set()
        self._ended: set[str] = set()

    def see(self, event: Seen) -> str | None:
        if event.kind == "duties.begun":
            return self._begin(event)
        if event.kind == "duty.proposed":
            return self._propose(event)
        if event.subject in self._ended:
            return f"{event.kind} happens to the duty {event.subject}, which was ended before"
        proposed = self._proposed.get(event.subject)
        if proposed is None and not event.excused():
            return f"{event.kind} names the duty {event.subject}, which no earlier entry proposes"
        if event.kind == "duty.ended":
            self._ended.add(event.subject)
            return None
        return (
            self._confirm(event, proposed)
            if event.kind == "duty.confirmed"
            else self._review(event, proposed)
        )

    def _begin(self, event: Seen) -> str | None:
        again, self._begun = self._begun, True
        if again:
            return "the first administrators are named a second time"
        same = event.data["first"] == event.data["second"]
        return "one person alone is named as the first two administrators" if same else None

    def _review(self, event: Seen, proposed: dict[str, Any] | None) -> str | None:
        if event.subject not in self._confirmed and not event.excused():
            return f"the duty {event.subject} is reviewed, but was not confirmed"
        if proposed is not None and event.data["reviewed_by"] == proposed["account"]:
            return f"the duty {event.subject} is reviewed by who holds it"
        return None

    def _propose(self, event: Seen) -> str | None:
        known = event.subject in self._proposed
        self._proposed[event.subject] = event.data
        if known:
            return f"the duty {event.subject} is proposed a second time"
        if event.data["begins"] >= event.data["ends"]:
            return f"the duty {event.subject} ends before it begins"
        if not self._begun and not event.excused():
            return f"the duty {event.subject} is proposed before the first administrators were named"
        return None

    def _confirm(self, event: Seen, proposed: dict[str, Any] | None) -> str | None:
        known = event.subject in self._confirmed
        self._confirmed.add(event.subject)
        if known:
            return f"the duty {event.subject} is confirmed a second time"
        if proposed is None:
            return None
        if event.data["confirmed_by"] == proposed["proposed_by"]:
            return f"the duty {event.subject} is proposed and confirmed by one person alone"
        if event.data["confirmed_by"] == proposed["account"]:
            return f"the duty {event.subject} is confirmed by who holds it"
        return None


class Matrix(Rule):
    """Nobody holds two duties at one time that exclude each other; auditors hold one by their term."""

    kinds: ClassVar[frozenset[str]] = frozenset(
        {"duty.proposed", "duty.confirmed", "duty.ended", "auditor.appointed", "auditor.ended"}
    )

    def __init__(self) -> None:
        self._proposed: dict[str, _Held] = {}
        self._held: dict[str, dict[str, _Held]] = {}
        """By account, then by duty or term."""
        self._holder: dict[str, str] = {}

    def see(self, event: Seen) -> str | None:
        data = event.data
        if event.kind == "duty.proposed":
            self._proposed[event.subject] = _Held(data["account"], data["duty"], data["begins"], data["ends"])
            return None
        if event.kind in ("duty.ended", "auditor.ended"):
            self._end(event)
            return None
        if event.kind == "auditor.appointed":
            return self._take(event, _Held(data["account"], "auditor", data["begins"], data["ends"]))
        held = self._proposed.pop(event.subject, None)
        return None if held is None else self._take(event, held)

    def _end(self, event: Seen) -> None:
        """It counts up to its end; of an auditor's term the event does not tell it, so that counts no more."""
        self._proposed.pop(event.subject, None)
        account = self._holder.pop(event.subject, None)
        if account is None:
            return
        if event.kind == "auditor.ended":
            del self._held[account][event.subject]
            return
        held = self._held[account][event.subject]
        held.ends = min(held.ends, event.data["at"])

    def _take(self, event: Seen, wanted: _Held) -> str | None:
        wanted.since = event.position
        others = self._held.setdefault(wanted.account, {})
        found = [
            other for other in others.values() if wanted.meets(other) and _exclude(wanted.duty, other.duty)
        ]
        others[event.subject] = wanted
        self._holder[event.subject] = wanted.account
        for other in found:
            # That the other was ended in between may be withheld.
            if not event.excused(other.since):
                return f"{wanted.account} holds the duties {other.duty} and {wanted.duty} at one time"
        return None


class Administrators(Rule):
    """Whoever proposes, confirms, reviews or ends a duty is an administrator at that instant."""

    kinds: ClassVar[frozenset[str]] = Steps.kinds

    def __init__(self) -> None:
        self._naming: set[str] = set()
        """Those of the ceremony whose duty is not confirmed yet."""
        self._proposed: dict[str, _Held] = {}
        self._held: dict[str, dict[str, _Held]] = {}

    def see(self, event: Seen) -> str | None:
        data = event.data
        if event.kind == "duties.begun":
            self._naming = {data["first"], data["second"]}
            return None
        by = data[BY[event.kind]]
        wrong = self._by_other(event, by)
        if event.kind == "duty.proposed":
            self._proposed[event.subject] = _Held(data["account"], data["duty"], data["begins"], data["ends"])
        elif event.kind == "duty.confirmed":
            held = self._proposed.get(event.subject)
            if held is not None and held.duty == "administrator":
                held.begins = max(held.begins, data["at"])
                self._held.setdefault(held.account, {})[event.subject] = held
                self._naming.discard(held.account)
        elif event.kind == "duty.ended":
            held = self._proposed.pop(event.subject, None)
            if held is not None:
                held.ends = min(held.ends, data["at"])
        return wrong

    def _by_other(self, event: Seen, by: str) -> str | None:
        at = event.data["at"]
        if any(held.at(at) for held in self._held.get(by, {}).values()) or self._in_ceremony(event, by):
            return None
        return None if event.excused() else f"{event.kind} is done by {by}, who is no administrator then"

    def _in_ceremony(self, event: Seen, by: str) -> bool:
        """Between the naming and the second confirmation the two act for each other, and for nobody else."""
        if event.kind == "duty.proposed":
            return (
                by in self._naming and event.data["account"] == by and event.data["duty"] == "administrator"
            )
        proposed = self._proposed.get(event.subject)
        return (
            event.kind == "duty.confirmed"
            and by in self._naming
            and proposed is not None
            and proposed.account in self._naming
        )


BY = {
    "duty.proposed": "proposed_by",
    "duty.confirmed": "confirmed_by",
    "duty.reviewed": "reviewed_by",
    "duty.ended": "ended_by",
}
"""By kind: the fact that names who did it."""


class Members(Rule):
    """Whoever is confirmed in a duty that sees what vendors must not is a member of no organisation that can submit.

    The other way round no entry says when a duty has run out; there the database refuses.
    """

    kinds: ClassVar[frozenset[str]] = frozenset(
        {
            *("duty.proposed", "duty.confirmed"),
            *("organisation.member_added", "organisation.member_ended", "organisation.marked_as_auditing"),
        }
    )

    def __init__(self) -> None:
        self._audits: set[str] = set()
        self._joined: dict[str, set[str]] = {}
        self._proposed: dict[str, tuple[str, str]] = {}

    def see(self, event: Seen) -> str | None:
        data = event.data
        if event.kind == "organisation.marked_as_auditing":
            self._audits.add(event.subject)
        elif event.kind == "organisation.member_added":
            self._joined.setdefault(data["account"], set()).add(event.subject)
        elif event.kind == "organisation.member_ended":
            self._joined.get(data["account"], set()).discard(event.subject)
        elif event.kind == "duty.proposed":
            self._proposed[event.subject] = data["account"], data["duty"]
        elif (proposed := self._proposed.get(event.subject)) is not None:
            account, duty = proposed
            vendors = self._joined.get(account, set()) - self._audits
            if duty in KEPT_APART and vendors and not event.excused():
                return f"{account} is confirmed as {duty} and is a member of {min(vendors)}"
        return None


def _exclude(one: str, other: str) -> bool:
    return frozenset({one, other}) in CONFLICTS or (one == other != "auditor")
