"""The log's own business: exports are asked for, made and delivered as made; to withhold an entry takes two people."""

from __future__ import annotations

from typing import ClassVar

from client.audit.rules.base import Rule, Seen


class Exports(Rule):
    """What is delivered is what was made, and it was made because somebody asked for it."""

    kinds: ClassVar[frozenset[str]] = frozenset(
        {"export.requested", "export.made", "export.failed", "export.delivered"}
    )

    def __init__(self) -> None:
        self._requested: set[str] = set()
        self._made: dict[str, str] = {}

    def see(self, event: Seen) -> str | None:
        name, asked = event.subject, event.subject in self._requested
        if event.kind == "export.requested":
            self._requested.add(name)
            return f"the export {name} is asked for a second time" if asked else None
        if not asked and not event.excused():
            return f"{event.kind} names the export {name}, for which nobody asked"
        if event.kind == "export.made":
            self._made[name] = event.data["manifest"]
            # What is made includes at most every entry before this one, and shows no more than it includes.
            if not 0 <= event.data["shown"] <= event.data["size"] <= event.position:
                return f"the export {name} holds more entries than there are"
        if event.kind == "export.delivered":
            made = self._made.get(name)
            if made != event.data["manifest"] and (made is not None or not event.excused()):
                return f"the export {name} is delivered otherwise than it was made"
        return None


class Withholding(Rule):
    """An entry is withheld by two people, and was written before."""

    kinds: ClassVar[frozenset[str]] = frozenset({"entry.withheld"})

    def see(self, event: Seen) -> str | None:
        if event.data["asked_by"] == event.data["agreed_by"]:
            return f"the entry {event.subject} is withheld by one person alone"
        if not 0 <= int(event.subject) < event.position:
            return f"the entry {event.subject} is withheld before it was written"
        return None
