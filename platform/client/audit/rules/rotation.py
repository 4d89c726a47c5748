"""A task leaves, and a version is replaced, only as two people decided, by the seed that was committed before.

Governance rules, section "Rotation"; the moves are those of the platform.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import ClassVar, Final

from client.audit.rules.base import Rule, Seen

ENTRY_MOVES: Final[dict[str, tuple[str, ...]]] = {
    "queued": ("proposed",),
    "proposed": ("queued", "watching", "rotating", "retiring", "dismissed"),
    "watching": ("queued",),
    "rotating": ("replaced",),
    "retiring": ("retired",),
}
BECOMES: Final = {
    "keep_watching": "watching",
    "rotate": "rotating",
    "retire": "retiring",
    "false_alarm": "dismissed",
}
PLAN_MOVES: Final[dict[str, tuple[str, ...]]] = {
    "seeded": ("discarded",),
    "drawn": ("proposed", "discarded"),
    "proposed": ("approved", "drawn", "discarded"),
    "approved": ("composed", "discarded"),
    "composed": ("in_force", "discarded"),
}
"""What `rotation_plan.moved` may tell; from `seeded` to `drawn` there is an event of its own."""


@dataclass(slots=True)
class _Decided:
    """An entry or a plan on its way."""

    seen: int
    state: str
    proposed_by: str = ""
    wanted: str = ""
    seed_digest: str = ""
    lines: str = ""


class RotationQueue(Rule):
    """An entry of the queue: the second person decides what the first one proposed."""

    kinds: ClassVar[frozenset[str]] = frozenset({"rotation.queued", "rotation.moved"})

    def __init__(self) -> None:
        self._entries: dict[str, _Decided] = {}

    def see(self, event: Seen) -> str | None:
        name, known = event.subject, self._entries.get(event.subject)
        if event.kind == "rotation.queued":
            self._entries[name] = _Decided(event.position, "queued")
            return f"the entry {name} of the rotation queue is opened a second time" if known else None
        if known is None:
            return None if event.excused() else f"{name} moves in the rotation queue, which it never entered"
        wrong = self._step(event, known)
        known.state = event.data["after"]
        return None if wrong is None or event.excused(known.seen) else wrong

    def _step(self, event: Seen, entry: _Decided) -> str | None:
        data, name = event.data, event.subject
        before, after = data["before"], data["after"]
        if before != entry.state or after not in ENTRY_MOVES.get(before, ()):
            return f"the entry {name} of the rotation queue moves from {before} to {after}, which it cannot"
        if after == "proposed":
            entry.proposed_by, entry.wanted = data["proposed_by"], BECOMES[data["verdict"]]
        elif before == "proposed" and after != "queued":
            if after != entry.wanted:
                return f"about the entry {name} of the rotation queue is decided what nobody proposed"
            if data["decided_by"] == entry.proposed_by:
                return f"about the entry {name} of the rotation queue one person alone decides"
        return None


class RotationPlans(Rule):
    """A plan is drawn by the seed committed when it was opened, and the lines drawn are those that are approved."""

    kinds: ClassVar[frozenset[str]] = frozenset(
        {"rotation_plan.opened", "rotation_plan.drawn", "rotation_plan.moved", "succession.stated"}
    )

    def __init__(self) -> None:
        self._plans: dict[str, _Decided] = {}

    def see(self, event: Seen) -> str | None:
        name = event.data["plan"] if event.kind == "succession.stated" else event.subject
        known = self._plans.get(name)
        if event.kind == "rotation_plan.opened":
            self._plans[name] = _Decided(event.position, "seeded", seed_digest=event.data["seed_digest"])
            return f"the rotation plan {name} is opened a second time" if known else None
        if known is None:
            return None if event.excused() else f"{event.kind} is about the plan {name}, which no entry opens"
        wrong = self._step(event, known, name)
        return None if wrong is None or event.excused(known.seen) else wrong

    def _step(self, event: Seen, plan: _Decided, name: str) -> str | None:
        data = event.data
        if event.kind == "succession.stated":
            return (
                None if plan.state == "in_force" else f"the plan {name} has a succession and is not in force"
            )
        if event.kind == "rotation_plan.drawn":
            before, plan.state, plan.lines = plan.state, "drawn", data["lines"]
            if before != "seeded":
                return f"the rotation plan {name} is drawn a second time"
            if hashlib.sha256(data["seed"].encode()).hexdigest() != plan.seed_digest:
                return f"the rotation plan {name} is drawn by another seed than was committed"
            return None
        before, after, known = data["before"], data["after"], plan.state
        plan.state = after
        if before != known or after not in PLAN_MOVES.get(before, ()):
            return f"the rotation plan {name} moves from {before} to {after}, which it cannot"
        if plan.lines and data["lines"] != plan.lines:
            return f"the rotation plan {name} moves with other lines than were drawn"
        if after == "proposed":
            plan.proposed_by = data["proposed_by"]
        elif after == "approved" and data["approved_by"] == plan.proposed_by:
            return f"the rotation plan {name} is proposed and approved by one person alone"
        return None
