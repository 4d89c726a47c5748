"""A submission moves only as the protocol says, and its use of the quota is reserved, counted and returned once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from client.audit.rules.base import Rule, Seen

MOVES: Final[dict[str, tuple[str, ...]]] = {
    "created": ("checking", "cancelled"),
    "checking": ("preflight", "rejected", "cancelled", "voided"),
    "preflight": ("queued", "preflight_passed", "preflight_failed", "cancelled", "voided"),
    "queued": ("running", "preflight_failed", "paused", "cancelled", "voided"),
    "running": ("grading", "paused", "awaiting_choice", "cancelled", "voided"),
    "paused": ("queued", "running", "awaiting_choice", "cancelled", "voided"),
    "grading": ("complete", "held", "awaiting_choice", "cancelled", "voided"),
    "awaiting_choice": ("incomplete", "voided"),
    "held": ("complete", "incomplete", "voided"),
    "incomplete": ("held",),
}
"""The published table of moves, stated here a second time: who checks a program does not ask that program."""
PREFLIGHT: Final = frozenset(
    {"checking", "preflight", "preflight_passed", "preflight_failed", "rejected", "cancelled", "voided"}
)
"""Where a preflight on its own may move; `preflight_passed` is for those alone."""


@dataclass(slots=True)
class _Submission:
    state: str = "created"
    scope: str = ""
    """full or preflight; empty where the admission was not seen."""
    paused_from: str = ""
    seen: int = -1


class Moves(Rule):
    """Each move begins where the last one ended and is one of the table; a pause goes back to where it came from.

    A preflight on its own goes no further than its end, and a whole submission does not end there.
    """

    kinds: ClassVar[frozenset[str]] = frozenset(
        {"submission.admitted", "preflight.admitted", "submission.moved"}
    )

    def __init__(self) -> None:
        self._submissions: dict[str, _Submission] = {}

    def see(self, event: Seen) -> str | None:
        found = self._submissions.get(event.subject)
        if event.kind != "submission.moved":
            scope = "preflight" if event.kind == "preflight.admitted" else "full"
            self._submissions[event.subject] = _Submission(scope=scope, seen=event.position)
            return None
        before, after = event.data["before"], event.data["after"]
        since = found.seen if found else -1
        if found is None:
            found = self._submissions[event.subject] = _Submission(state="")
        state, paused_from = found.state, found.paused_from
        found.state, found.seen = after, event.position
        found.paused_from = before if after == "paused" else ""
        if state != before and not event.excused(since):
            return f"the submission {event.subject} moves from {before}, but it is {state or 'not admitted'}"
        if after not in MOVES.get(before, ()):
            return f"the submission {event.subject} moves from {before} to {after}, which is no legal move"
        if found.scope == "preflight" and after not in PREFLIGHT:
            return f"the preflight {event.subject} moves to {after}, where only submissions come"
        if found.scope == "full" and after == "preflight_passed":
            return f"the submission {event.subject} ends as a preflight on its own"
        astray = before == "paused" and after in ("queued", "running") and after != paused_from
        if astray and not event.excused(since):
            return f"the submission {event.subject} was paused from {paused_from} and resumes as {after}"
        return None


@dataclass(slots=True)
class _Slot:
    state: str = ""
    submission: str = ""
    seen: int = -1


class Slots(Rule):
    """One use a submission; counted at most once, returned at most once, and only after it was reserved."""

    kinds: ClassVar[frozenset[str]] = frozenset({"slot.reserved", "slot.consumed", "slot.refunded"})

    def __init__(self) -> None:
        self._slots: dict[str, _Slot] = {}
        self._served: set[str] = set()

    def see(self, event: Seen) -> str | None:
        found = self._slots.setdefault(event.subject, _Slot())
        state, submission, since = found.state, found.submission, found.seen
        found.state, found.seen = event.kind.partition(".")[2], event.position
        found.submission = event.data["submission"]
        if event.kind == "slot.reserved":
            return self._reserved(found.submission)
        if state in ("refunded", found.state):
            return f"the slot {event.subject} is {found.state} after it was {state}"
        if not state and not event.excused(since):
            return f"the slot {event.subject} is {found.state}, but was never reserved"
        if submission and submission != found.submission:
            return f"the slot {event.subject} belongs to another submission"
        return None

    def _reserved(self, submission: str) -> str | None:
        if submission in self._served:
            return f"the submission {submission} reserves a second slot"
        self._served.add(submission)
        return None


class Consumption(Rule):
    """Held-out tasks start only once the use is counted: after the move to running nothing follows but its count."""

    kinds: ClassVar[frozenset[str]] = frozenset({"submission.moved", "slot.consumed", "slot.refunded"})

    def __init__(self) -> None:
        self._consumed: dict[str, int] = {}
        self._running: dict[str, int] = {}

    def see(self, event: Seen) -> str | None:
        if event.kind == "slot.consumed":
            submission = event.data["submission"]
            self._consumed[submission] = event.position
            if self._running.pop(submission, None) is None and not event.excused():
                return f"the use of the submission {submission} is counted, but it did not start to run"
            return None
        if event.kind == "slot.refunded":
            self._consumed.setdefault(event.data["submission"], event.position)
            return None
        return self._moved(event)

    def _moved(self, event: Seen) -> str | None:
        if event.data["before"] == "queued" and event.data["after"] == "running":
            if event.subject not in self._consumed:
                self._running[event.subject] = event.position
            return None
        since = self._running.pop(event.subject, None)
        if since is not None and not event.excused(since):
            return f"the submission {event.subject} ran without its use being counted"
        return None
