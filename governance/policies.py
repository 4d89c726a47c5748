"""Rules of governance, without a database."""

from __future__ import annotations

from datetime import datetime

from config.clock import next_tick

THROUGH = {"grading": ("ended",), "incomplete": ("ended", "cancelled"), "held": ("ended", "cancelled")}
"""By state of the submission: the states of its run in which nothing more will come."""
RELEASABLE = ("grading", "incomplete")
"""States that end with the release by themselves; what is held waits until its hold is over."""


def may_release(
    *, state: str, run_state: str, missing: int, ended_at: datetime | None, tick_seconds: int, now: datetime
) -> bool:
    """Whether all numbers of a submission may be shown now: graded through, nothing missing, on a tick.

    What is missing is run again first, or kept by the vendor's choice, which leads to the state `incomplete`; what is
    held was whole or kept so before.
    """
    if state not in THROUGH or ended_at is None or run_state not in THROUGH[state]:
        return False
    if state == "grading" and missing:
        return False
    return now >= next_tick(ended_at, tick_seconds)
