"""Orders to the fleet: each is given once and lifted once at most, and says the same of itself both times."""

from __future__ import annotations

from typing import Any, ClassVar

from client.audit.rules.base import Rule, Seen

LIFTS = {
    "switch.resumed": ("switch.paused", ("switch",)),
    "fleet.order_lifted": ("fleet.ordered", ("order", "scope", "name")),
    "episode.released": ("episode.quarantined", ("run", "attempt")),
}
"""By the kind that lifts an order: the kind that gives it, and the facts that both name."""
GIVES = frozenset(kind for kind, _ in LIFTS.values())


class FleetOrders(Rule):
    """Nothing is lifted that was not ordered, or a second time."""

    kinds: ClassVar[frozenset[str]] = frozenset(LIFTS) | GIVES

    def __init__(self) -> None:
        self._standing: dict[str, tuple[str, dict[str, Any]]] = {}
        self._given: set[str] = set()

    def see(self, event: Seen) -> str | None:
        if event.kind in GIVES:
            again = event.subject in self._given
            self._given.add(event.subject)
            self._standing[event.subject] = (event.kind, event.data)
            return f"the order {event.subject} is given a second time" if again else None
        kind, facts = LIFTS[event.kind]
        given, data = self._standing.pop(event.subject, ("", {}))
        if given != kind:
            return None if event.excused() else f"{event.kind} lifts {event.subject}, which does not stand"
        if any(event.data.get(fact) != data.get(fact) for fact in facts):
            return f"{event.kind} says otherwise of {event.subject} than the entry that ordered it"
        return None
