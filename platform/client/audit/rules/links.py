"""Linked accounts: a case is opened once, proposed by one, decided by another, and undone in the same way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from client.audit.rules.base import Rule, Seen


@dataclass(slots=True)
class _Case:
    state: str = ""
    verdict: str = ""
    proposed_by: str = ""
    absorbed: str = ""
    into: str = ""
    parting_by: str = ""
    seen: int = -1


BEFORE = {
    "link.extended": ("open", "proposed"),
    "link.proposed": ("open",),
    "link.returned": ("proposed",),
    "link.decided": ("proposed",),
    "link.parting_proposed": ("decided",),
    "link.parting_returned": ("parting",),
    "link.parted": ("parting",),
}
"""By kind: what the case must be."""


class Links(Rule):
    """The order of a case's events, the two people, and what the decision may move."""

    kinds: ClassVar[frozenset[str]] = frozenset(
        {"link.opened", "link.read", "organisation.lineage_changed"}
    ) | frozenset(BEFORE)

    def __init__(self) -> None:
        self._cases: dict[str, _Case] = {}

    def see(self, event: Seen) -> str | None:
        if event.kind == "organisation.lineage_changed":
            return self._moved(event)
        found = self._cases.setdefault(event.subject, _Case())
        since, found.seen = found.seen, event.position
        if event.kind == "link.opened":
            again, found.state = found.state, "open"
            if event.data["first"] >= event.data["second"]:
                return f"the case {event.subject} is not of two lineages in their order"
            return f"the case {event.subject} is opened a second time" if again else None
        if not found.state and not event.excused(since):
            return f"{event.kind} names the case {event.subject}, which no earlier entry opens"
        return None if event.kind == "link.read" else _step(found, event, since)

    def _moved(self, event: Seen) -> str | None:
        found = self._cases.get(event.data["case"], _Case())
        ways = {"decided": (found.absorbed, found.into), "parted": (found.into, found.absorbed)}
        way = (event.data["before"], event.data["lineage"])
        fits = found.verdict == "link" and ways.get(found.state) == way
        if not fits and not event.excused(found.seen):
            return f"the organisation {event.subject} changes its lineage by a case that was not decided so"
        return None


def _step(found: _Case, event: Seen, since: int) -> str | None:
    before, proposer = found.state, found.proposed_by
    if event.kind == "link.proposed":
        found.state, found.verdict = "proposed", event.data["verdict"]
        found.proposed_by = event.data["proposed_by"]
    elif event.kind == "link.returned":
        found.state = "open"
    elif event.kind == "link.decided":
        found.state = "decided"
        found.absorbed, found.into = event.data.get("absorbed", ""), event.data.get("into", "")
        if event.data["decided_by"] == proposer:
            return f"the case {event.subject} is proposed and decided by one person alone"
        if before == "proposed" and event.data["verdict"] != found.verdict:
            return f"the case {event.subject} is decided otherwise than was proposed"
    elif event.kind == "link.parting_proposed":
        found.state, found.parting_by = "parting", event.data["proposed_by"]
        if found.verdict != "link":
            return f"the case {event.subject} is to be parted and was not linked"
    elif event.kind == "link.parting_returned":
        found.state = "decided"
    elif event.kind == "link.parted":
        found.state = "parted"
        if event.data["decided_by"] == found.parting_by:
            return f"the case {event.subject} is parted by one person alone"
    if before not in BEFORE[event.kind] and not event.excused(since):
        return f"{event.kind} happens to the case {event.subject}, which is {before}"
    return None
