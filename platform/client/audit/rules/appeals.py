"""An appeal moves along its table, and two people are behind each ruling."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from client.audit.rules.base import Rule, Seen, known_without_rule

MOVES: dict[str, tuple[str, ...]] = {
    "filed": ("admitted", "inadmissible", "withdrawn"),
    "admitted": ("assigned", "withdrawn"),
    "assigned": ("drafted", "withdrawn"),
    "drafted": ("ruled", "assigned", "withdrawn"),
    "ruled": ("carried_out",),
}
NEEDS_DRAFT = frozenset({"upheld", "partly", "rejected"})

known_without_rule("appeal.evidence", "appeal.conflict", "appeal.read")


@dataclass(slots=True)
class _Appeal:
    state: str = "filed"
    seen: int = -1
    drafted_by: str = ""
    ruling: str = ""
    is_ruled: bool = False


class Appeals(Rule):
    """Filed once; no state skipped; ruled on once, by somebody who did not draft the ruling."""

    kinds: ClassVar[frozenset[str]] = frozenset(
        {
            *("appeal.filed", "appeal.moved", "appeal.escalated", "appeal.assigned", "appeal.drafted"),
            *("appeal.ruled", "appeal.effect"),
        }
    )

    def __init__(self) -> None:
        self._found: dict[str, _Appeal] = {}

    def see(self, event: Seen) -> str | None:
        name = event.subject
        if event.kind == "appeal.filed":
            known = name in self._found
            self._found.setdefault(name, _Appeal(seen=event.position))
            return f"the appeal {name} is filed a second time" if known else None
        found = self._found.get(name)
        if found is None:
            self._found[name] = _Appeal(state=event.data.get("after", ""), seen=event.position)
            return None if event.excused() else f"{event.kind} names the appeal {name}, which no entry files"
        since, found.seen = found.seen, event.position
        if event.kind == "appeal.moved":
            return self._moved(event, found, since)
        if event.kind == "appeal.drafted":
            found.drafted_by, found.ruling = event.data["proposed_by"], event.data["ruling"]
        if event.kind == "appeal.ruled":
            return self._ruled(event, found, since)
        if event.kind == "appeal.effect" and found.state != "ruled" and not event.excused(since):
            return f"an effect of the appeal {name} is carried out while it is {found.state}"
        return None

    def _moved(self, event: Seen, found: _Appeal, since: int) -> str | None:
        before, after, name = event.data["before"], event.data["after"], event.subject
        state, found.state = found.state, after
        if after not in MOVES.get(before, ()):
            return f"from {before} to {after} is no legal move of the appeal {name}"
        if before != state and not event.excused(since):
            return f"the appeal {name} moves from {before}, but it is {state}"
        if after in ("ruled", "inadmissible") and not found.is_ruled and not event.excused(since):
            return f"the appeal {name} becomes {after} without a ruling"
        return None

    def _ruled(self, event: Seen, found: _Appeal, since: int) -> str | None:
        data, name = event.data, event.subject
        again, found.is_ruled = found.is_ruled, True
        if again:
            return f"the appeal {name} is ruled on a second time"
        if data["ruling"] not in NEEDS_DRAFT:
            return None
        if data["proposed_by"] == data["approved_by"]:
            return f"the ruling on the appeal {name} is drafted and approved by one person alone"
        if (found.drafted_by, found.ruling) != (data["proposed_by"], data["ruling"]) and not event.excused(
            since
        ):
            return f"the ruling on the appeal {name} is not the one that was drafted last"
        return None


class OutsideArbiters(Rule):
    """Two people name an arbiter from outside."""

    kinds: ClassVar[frozenset[str]] = frozenset({"outside_arbiter.named", "outside_arbiter.ended"})

    def see(self, event: Seen) -> str | None:
        if event.kind == "outside_arbiter.ended":
            return None
        if event.data["named_by"] == event.data["confirmed_by"]:
            return f"one person alone named {event.subject} an arbiter from outside"
        return None
