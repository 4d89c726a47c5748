"""Openings of packages: two different people behind each, read between approval and end only, at most 72 hours."""

from __future__ import annotations

from typing import Any, ClassVar

from client.audit.rules.base import Rule, Seen

LONGEST_HOURS = 72


class Openings(Rule):
    """Proposed by one, approved by another; reads carry no time, so one that closed by its hours is told by its end."""

    kinds: ClassVar[frozenset[str]] = frozenset(
        f"package.{name}"
        for name in ("opening_proposed", "opening_approved", "key_lent", "read", "opening_ended")
    )

    def __init__(self) -> None:
        self._proposed: dict[str, dict[str, Any]] = {}
        self._approved: set[str] = set()
        self._ended: set[str] = set()

    def see(self, event: Seen) -> str | None:
        opening = event.subject
        if event.kind == "package.opening_proposed":
            return self._propose(event)
        if opening in self._ended:
            return f"{event.kind} happens to the opening {opening}, which was ended before"
        proposed = self._proposed.get(opening)
        if proposed is None and not event.excused():
            return f"{event.kind} names the opening {opening}, which no earlier entry proposes"
        if event.kind == "package.opening_ended":
            self._ended.add(opening)
            return None
        if event.kind == "package.opening_approved":
            return self._approve(event, proposed)
        if opening not in self._approved and not event.excused():
            return f"{event.kind} happens to the opening {opening}, which was not approved"
        return None

    def _propose(self, event: Seen) -> str | None:
        known = event.subject in self._proposed
        self._proposed[event.subject] = event.data
        if known:
            return f"the opening {event.subject} is proposed a second time"
        if not 1 <= event.data["hours"] <= LONGEST_HOURS:
            return f"the opening {event.subject} is proposed for {event.data['hours']} hours"
        return None

    def _approve(self, event: Seen, proposed: dict[str, Any] | None) -> str | None:
        known = event.subject in self._approved
        self._approved.add(event.subject)
        if known:
            return f"the opening {event.subject} is approved a second time"
        if proposed is not None and event.data["approved_by"] == proposed["proposed_by"]:
            return f"the opening {event.subject} is proposed and approved by one person alone"
        return None


class Deletions(Rule):
    """A package is deleted once."""

    kinds: ClassVar[frozenset[str]] = frozenset({"package.deleted"})

    def __init__(self) -> None:
        self._gone: set[str] = set()

    def see(self, event: Seen) -> str | None:
        again = event.subject in self._gone
        self._gone.add(event.subject)
        return f"the package of {event.subject} is deleted a second time" if again else None
