"""What a confirmation run may do next, and why one is not granted. Pure: no database."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Final

MOVES: Final[dict[str, tuple[str, ...]]] = {
    "requested": ("queued", "incomplete", "withdrawn"),
    "queued": ("running", "incomplete", "withdrawn"),
    "running": ("grading", "incomplete", "withdrawn"),
    "grading": ("confirmed", "incomplete", "withdrawn"),
    "confirmed": ("withdrawn",),
}
"""A confirmed run may be withdrawn until a dated release has published it."""

ENDS: Final = frozenset({"confirmed", "incomplete", "withdrawn"})
MOST: Final = 2
"""Confirmation runs of one line on one version: a second only where the first ended incomplete."""

STAYS: Final[dict[str, timedelta]] = {
    "requested": timedelta(days=60),
    "queued": timedelta(days=30),
    "grading": timedelta(days=2),
}
"""Longest stay before it ends incomplete. Running depends on the budgets of its tasks; lost runs are repeated for
`submissions.policies.states.RERUN_WINDOW`."""


class Cause(StrEnum):
    """Why a confirmation run is in its state."""

    ASKED = "asked"
    ALLOWED = "allowed"
    STARTED = "started"
    EXECUTED = "executed"
    GRADED = "graded"
    WITHDRAWN_BY_VENDOR = "withdrawn_by_vendor"
    CONSENT_WITHDRAWN = "consent_withdrawn"
    OWNER_OBJECTED = "owner_objected"
    RUNS_LOST = "runs_lost"
    NOT_ALLOWED_IN_TIME = "not_allowed_in_time"
    NOT_STARTED_IN_TIME = "not_started_in_time"
    NOT_GRADED_IN_TIME = "not_graded_in_time"
    BUDGET_SPENT = "budget_spent"


@dataclass(frozen=True)
class Facts:
    """What decides about the next move of a confirmation run."""

    state: str
    has_consent: bool
    objected: bool
    """Whether the owner of somebody else's harness objected to publication."""
    may_publish: bool
    """Whether the owner's rights hold publication up no more."""
    line_is_free: bool
    """Whether nothing else of its harness line is under way."""
    run_state: str
    """Of its evaluation run; empty where there is none."""
    missing: int
    is_on_tick: bool
    """Whether the tick after what its run did last has come."""
    is_overdue: bool
    is_dated: bool = False

    @property
    def is_whole(self) -> bool:
        """Nothing more will come of the run, and nothing of it is missing."""
        return self.run_state == "ended" and not self.missing


@dataclass(frozen=True)
class Move:
    to: str
    cause: Cause


LATE: Final = {
    "requested": Cause.NOT_ALLOWED_IN_TIME,
    "queued": Cause.NOT_STARTED_IN_TIME,
    "running": Cause.RUNS_LOST,
    "grading": Cause.NOT_GRADED_IN_TIME,
}


def next_move(facts: Facts) -> Move | None:
    """The one move that is due; None where it waits, or is at an end."""
    if facts.is_dated or facts.state not in MOVES:
        return None
    if not facts.has_consent:
        return Move("withdrawn", Cause.CONSENT_WITHDRAWN)
    if facts.objected:
        return Move("withdrawn", Cause.OWNER_OBJECTED)
    if facts.state in ENDS:
        return None
    if facts.run_state == "cancelled":
        return Move("incomplete", Cause.RUNS_LOST)
    if step := _step(facts):
        return step
    # A whole run is only late in being shown; it is never lost for that.
    is_only_late = facts.is_whole and facts.state in ("running", "grading")
    return Move("incomplete", LATE[facts.state]) if facts.is_overdue and not is_only_late else None


def _step(facts: Facts) -> Move | None:
    if facts.state == "requested" and facts.may_publish:
        return Move("queued", Cause.ALLOWED)
    if facts.state == "queued" and facts.line_is_free:
        return Move("running", Cause.STARTED)
    if not facts.is_on_tick:
        return None
    if facts.state == "running" and (facts.run_state == "grading" or facts.is_whole):
        return Move("grading", Cause.EXECUTED)
    if facts.state == "grading" and facts.is_whole:
        return Move("confirmed", Cause.GRADED)
    return None


def must_repeat(facts: Facts) -> bool:
    """Whether runs that the platform lost are to be repeated: they are missing, and there is time left."""
    lost = facts.run_state == "ended" and facts.missing > 0
    return lost and facts.state in ("running", "grading") and not facts.is_overdue


def may_withdraw(state: str, *, is_dated: bool) -> bool:
    """Until a dated release has published it, unless it has ended otherwise."""
    return not is_dated and "withdrawn" in MOVES.get(state, ())
