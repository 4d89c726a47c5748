"""An appeal moves along its table, and two people are behind each ruling."""

from __future__ import annotations

import hashlib
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

known_without_rule(
    *("appeal.evidence", "appeal.conflict", "appeal.read"),
    *("recheck.panel_named", "recheck.judged", "recheck.complete", "recheck.read", "recheck.lapsed"),
)


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


class Rechecks(Rule):
    """Both sides bind themselves, the platform before the word is known; the nonce is the one it committed to."""

    kinds: ClassVar[frozenset[str]] = frozenset(
        {"appeal.filed", "recheck.committed", "recheck.revealed", "recheck.drawn", "recheck.shown"}
    )

    def __init__(self) -> None:
        self._filed: set[str] = set()
        self._committed: dict[str, str] = {}
        self._revealed: set[str] = set()
        self._drawn: dict[str, int] = {}

    def see(self, event: Seen) -> str | None:
        name, data = event.subject, event.data
        if event.kind == "appeal.filed":
            if data.get("commitment"):
                self._filed.add(name)
            return None
        if event.kind == "recheck.committed":
            known = name in self._committed
            self._committed[name] = data["commitment"]
            if known:
                return f"the platform commits to the re-check of the appeal {name} a second time"
            missing = name not in self._filed and not event.excused()
            return f"the appeal {name} is re-checked without a commitment of its vendor" if missing else None
        if event.kind == "recheck.revealed":
            self._revealed.add(name)
            early = name not in self._committed and not event.excused()
            return f"the word of the appeal {name} is given before the platform is bound" if early else None
        return self._drawn_or_shown(event)

    def _drawn_or_shown(self, event: Seen) -> str | None:
        name, data = event.subject, event.data
        if event.kind == "recheck.shown":
            if self._drawn.get(name) != data["runs"] and not event.excused():
                return f"the re-check of the appeal {name} is shown over other runs than were drawn"
            return None
        self._drawn[name] = data["runs"]
        bound = self._committed.get(name)
        if (name not in self._revealed or bound is None) and not event.excused():
            return f"runs of the appeal {name} are drawn before both sides are bound"
        if bound is not None and hashlib.sha256(data["nonce"].encode()).hexdigest() != bound:
            return f"the nonce of the appeal {name} is not the one that the platform committed to"
        return None
