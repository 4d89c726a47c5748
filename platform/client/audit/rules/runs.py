"""A run is created, executed and ended; its attempts end while it executes; held-out tasks cost a use of the quota."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from client.audit.rules.base import Rule, Seen, known_without_rule

known_without_rule("fleet_alert.raised", "fleet_alert.ended", "artefacts.purged")

AFTER: dict[str, tuple[str, ...]] = {
    "executed": ("created", "reopened"),
    "ended": ("executed",),
    "reopened": ("ended",),
    "cancelled": ("created", "reopened", "executed"),
}
"""By what happens to a run: what must have happened last."""


@dataclass(slots=True)
class _Run:
    state: str = ""
    seen: int = -1
    missing: int = 0
    episodes: int = 0
    by_number: dict[int, int] = field(default_factory=dict)
    """How many attempts ended, by their number; a dict, since a number may be any."""
    attempts: set[int] = field(default_factory=set)
    """The first eight bytes of the attempts' ids, while the run executes."""


class Runs(Rule):
    """The order of a run's events, and its attempts."""

    kinds: ClassVar[frozenset[str]] = frozenset(
        {"run.created", "run.executed", "run.ended", "run.reopened", "run.cancelled", "attempt.ended"}
    )

    def __init__(self) -> None:
        self._runs: dict[str, _Run] = {}

    def see(self, event: Seen) -> str | None:
        if event.kind == "attempt.ended":
            return self._attempt(event)
        found = self._runs.setdefault(event.subject, _Run())
        happened, state, since = event.kind.partition(".")[2], found.state, found.seen
        found.state, found.seen = happened, event.position
        if happened == "created":
            found.episodes = event.data["episodes"]
            return None
        if happened != "reopened":
            found.attempts.clear()
        if state not in AFTER[happened] and not event.excused(since):
            return f"the run {event.subject} is {happened}, but it is {state or 'not created'}"
        if happened == "ended":
            found.missing = event.data["missing"]
            return _lost(found, event)
        repeated = event.data["episodes"] + event.data.get("quarantined", 0) if happened == "reopened" else 0
        repeats = happened == "reopened" and found.missing != repeated
        if repeats and not event.excused(since):
            return f"the run {event.subject} repeats another number of episodes than it missed"
        return None

    def _attempt(self, event: Seen) -> str | None:
        name, number = event.data["run"], event.data["number"]
        found = self._runs.get(name)
        since = found.seen if found else -1
        if found is None:
            found = self._runs[name] = _Run()
        if found.state not in ("created", "reopened") and not event.excused(since):
            return f"the attempt {event.subject} ends, but its run is {found.state or 'not created'}"
        return _counted(found, event, number)


def _counted(found: _Run, event: Seen, number: int) -> str | None:
    """Number n + 1 of an episode exists only after its number n has ended; so there are never more of them."""
    counts = found.by_number
    if number < 1:
        return f"the attempt {event.subject} has the number {number}"
    counts[number] = ended = counts.get(number, 0) + 1
    short = int(event.subject[:18].replace("-", ""), 16)
    if short in found.attempts:
        return f"the attempt {event.subject} ends a second time"
    found.attempts.add(short)
    if number > 1 and ended > counts.get(number - 1, 0) and not event.excused():
        return (
            f"the attempt {event.subject} has the number {number} before enough have ended with the one below"
        )
    if number == 1 and found.episodes and ended > found.episodes:
        return f"the run of the attempt {event.subject} has more first attempts than episodes"
    return None


def _lost(found: _Run, event: Seen) -> str | None:
    """An episode without an attempt that ended is missing."""
    if not found.episodes or not found.by_number:
        return None
    if found.by_number.get(1, 0) + found.missing < found.episodes and not event.excused():
        return f"the run {event.subject} ends with fewer attempts than it has episodes that are not missing"
    return None


class HeldOut(Rule):
    """An attempt at held-out tasks ends only once a use was counted for a submission of that package.

    Or once a confirmation run named this very run when it was moved to running.
    """

    kinds: ClassVar[frozenset[str]] = frozenset(
        {"submission.admitted", "slot.consumed", "run.created", "attempt.ended", "run.executed"}
        | {"confirmation.moved"}
    )

    def __init__(self) -> None:
        self._package: dict[str, str] = {}
        self._paid: dict[str, int] = {}
        self._waiting: dict[str, str] = {}

    def see(self, event: Seen) -> str | None:
        if event.kind == "submission.admitted":
            self._package[event.subject] = event.data["package_digest"]
        elif event.kind == "slot.consumed":
            package = self._package.get(event.data["submission"], "")
            self._paid[package] = self._paid.get(package, 0) + 1
        elif event.kind == "run.created":
            if event.data["run_kind"] == "held_out":
                self._waiting[event.subject] = event.data["package"]
        elif event.kind == "confirmation.moved":
            if event.data["after"] == "running":
                self._waiting.pop(event.data["run"], None)
        else:
            return self._started(event)
        return None

    def _started(self, event: Seen) -> str | None:
        name = event.subject if event.kind == "run.executed" else event.data["run"]
        package = self._waiting.pop(name, None)
        if package is None:
            return None
        left = self._paid.get(package, 0)
        if left < 1 and not event.excused():
            return (
                f"the run {name} touches held-out tasks, but no use of the quota was counted for its package"
            )
        self._paid[package] = left - 1
        return None
