"""Audit rooms: two different people behind each, and nothing shown before it is open or after it is over."""

from __future__ import annotations

from typing import Any, ClassVar

from client.audit.rules.base import Rule, Seen

LONGEST_HOURS = 168


class Rooms(Rule):
    """Proposed by one, opened by another, within the hours that are allowed; read between opening and end only.

    Reads carry no time of their own, so that a room closed by itself is not told from the entries.
    """

    kinds: ClassVar[frozenset[str]] = frozenset(
        {"audit_room.proposed", "audit_room.opened", "audit_room.ended", "audit_room.read"}
    )

    def __init__(self) -> None:
        self._proposed: dict[str, dict[str, Any]] = {}
        self._opened: set[str] = set()
        self._ended: set[str] = set()

    def see(self, event: Seen) -> str | None:
        room = event.subject
        if event.kind == "audit_room.proposed":
            return self._propose(event)
        if room in self._ended:
            return f"{event.kind} happens to the audit room {room}, which was ended before"
        proposed = self._proposed.get(room)
        if proposed is None and not event.excused():
            return f"{event.kind} names the audit room {room}, which no earlier entry proposes"
        if event.kind == "audit_room.ended":
            self._ended.add(room)
            return None
        if event.kind == "audit_room.opened":
            return self._open(event, proposed)
        if room not in self._opened and not event.excused():
            return f"the audit room {room} is read, but was not opened"
        return None

    def _propose(self, event: Seen) -> str | None:
        known = event.subject in self._proposed
        self._proposed[event.subject] = event.data
        if known:
            return f"the audit room {event.subject} is proposed a second time"
        if not 1 <= event.data["hours"] <= LONGEST_HOURS:
            return f"the audit room {event.subject} is proposed for {event.data['hours']} hours"
        return None

    def _open(self, event: Seen, proposed: dict[str, Any] | None) -> str | None:
        known = event.subject in self._opened
        self._opened.add(event.subject)
        if known:
            return f"the audit room {event.subject} is opened a second time"
        if event.data["closes"] <= event.data["at"]:
            return f"the audit room {event.subject} closes before it opens"
        if proposed is not None and event.data["opened_by"] == proposed["proposed_by"]:
            return f"the audit room {event.subject} is proposed and opened by one person alone"
        return None
