"""Uses that staff return: two different people behind each, and none returned by staff without them."""

from __future__ import annotations

from typing import Any, ClassVar

from client.audit.rules.base import Rule, Seen

BY_STAFF = "refund_by_staff"


class UseReturns(Rule):
    """Proposed by one, approved by another; from the first duties on, staff return what was approved only."""

    kinds: ClassVar[frozenset[str]] = frozenset(
        {
            "use_return.proposed",
            "use_return.approved",
            "use_return.withdrawn",
            "slot.refunded",
            "duties.begun",
        }
    )

    def __init__(self) -> None:
        self._begun = False
        self._proposed: dict[str, dict[str, Any]] = {}
        self._over: set[str] = set()
        self._approved: set[str] = set()
        """Slots."""

    def see(self, event: Seen) -> str | None:
        if event.kind == "duties.begun":
            self._begun = True
            return None
        if event.kind == "slot.refunded":
            return self._refund(event)
        if event.kind == "use_return.proposed":
            known = event.subject in self._proposed
            self._proposed[event.subject] = event.data
            return f"the return {event.subject} is proposed a second time" if known else None
        return self._decide(event)

    def _decide(self, event: Seen) -> str | None:
        which, approves = event.subject, event.kind == "use_return.approved"
        known = which in self._over
        self._over.add(which)
        if approves:
            self._approved.add(event.data["slot"])
        if known:
            return f"{event.kind} happens to the return {which}, which was decided before"
        proposed = self._proposed.get(which)
        if proposed is None:
            if event.excused():
                return None
            return f"{event.kind} names the return {which}, which no earlier entry proposes"
        if event.data["slot"] != proposed["slot"]:
            return f"the return {which} is proposed for one use and decided for another"
        if approves and event.data["approved_by"] == proposed["proposed_by"]:
            return f"the return {which} is proposed and approved by one person alone"
        return None

    def _refund(self, event: Seen) -> str | None:
        if event.data["cause"] != BY_STAFF or not self._begun or event.subject in self._approved:
            return None
        if event.excused():
            return None
        return f"staff return the slot {event.subject}, but no earlier entry approves that"
