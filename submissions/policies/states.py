"""The legal moves of a submission, what each end costs, and when the reaper moves. Pure."""

from __future__ import annotations

from datetime import timedelta
from enum import StrEnum
from typing import Final


class SlotEffect(StrEnum):
    """What a move does to the submission's use of the quota and its cooldown."""

    NONE = "none"
    CONSUME = "consume"
    RETURN = "return"
    """The use is returned and the cooldown lifted."""


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

PREFLIGHT_STATES: Final = frozenset(
    {
        "created",
        "checking",
        "preflight",
        "preflight_passed",
        "preflight_failed",
        "rejected",
        "cancelled",
        "voided",
    }
)
"""All that a preflight on its own can be; a whole submission is never `preflight_passed`."""

SLOT_MOVES: Final[dict[str, tuple[str, ...]]] = {
    "reserved": ("consumed", "refunded"),
    "consumed": ("refunded",),
}

UPLOAD_MOVES: Final[dict[str, tuple[str, ...]]] = {
    "open": ("verifying", "failed", "aborted", "expired"),
    "verifying": ("complete", "failed", "aborted", "expired"),
    "complete": ("consumed", "aborted", "expired"),
}

ENDS: Final = frozenset(  # one that was kept incomplete may still be held, once, before its release
    {"complete", "rejected", "preflight_passed", "preflight_failed", "cancelled", "incomplete", "voided"}
)
IN_FLIGHT: Final = frozenset({"created", "checking", "preflight", "queued", "running", "paused", "grading"})
"""States that block another submission of the same line. A held result, or one that waits for the vendor's choice,
runs nothing any more and blocks nothing."""

DEADLINES: Final[dict[str, tuple[timedelta, str, str]]] = {
    "created": (timedelta(hours=24), "cancelled", "deadline_created"),
    "checking": (timedelta(minutes=15), "voided", "deadline_checking"),
    "preflight": (timedelta(hours=12), "voided", "deadline_preflight"),
    "paused": (timedelta(days=14), "awaiting_choice", "deadline_paused"),
    "grading": (timedelta(days=2), "awaiting_choice", "deadline_grading"),
    "awaiting_choice": (timedelta(days=14), "voided", "deadline_choice"),
}
"""Longest stay, where the reaper moves, and the cause it gives. Queued has none; running depends on its budgets."""

RERUN_WINDOW: Final = timedelta(days=14)
"""How long lost runs are repeated before the vendor chooses."""

CHECK_LEASE: Final = timedelta(minutes=3)

PREFLIGHT_CRASH_PERCENT: Final = 20
"""Above this share of runs that crashed without artefact or reply, preflight has failed."""


def may_move(state: str, to: str, *, scope: str = "full", paused_from: str = "") -> bool:
    """Whether the move is legal; a pause ends in the state that it left, a preflight on its own goes no further."""
    if to not in MOVES.get(state, ()):
        return False
    if scope == "preflight" and to not in PREFLIGHT_STATES:
        return False
    if scope == "full" and to == "preflight_passed":
        return False
    return state != "paused" or to not in ("queued", "running") or to == paused_from


def slot_effect(state: str, to: str, slot_state: str) -> SlotEffect:
    """Who pays: what the move from `state` to `to` does to a use in `slot_state`, which is empty where there is none.

    Before held-out tasks start (the use is reserved) every end returns it. Afterwards only a void for a fault of the
    platform does; a void after review keeps it counted unless the ruling says otherwise.
    """
    if to == "running" and state == "queued":
        return SlotEffect.CONSUME
    if slot_state == "reserved" and to in ENDS:
        return SlotEffect.RETURN
    if slot_state == "consumed" and to == "voided" and state != "held":
        return SlotEffect.RETURN
    return SlotEffect.NONE


def preflight_failed(*, crashed: int, total: int) -> bool:
    """Over 20 % of the runs crashed without artefact or reply; never for a low score."""
    return crashed * 100 > total * PREFLIGHT_CRASH_PERCENT


def rerun_pause(count: int) -> timedelta:
    """How long to wait before lost runs are repeated after `count` repeats: 0, 1, 2, 4 … 360 minutes."""
    return timedelta(minutes=min(2 ** (count - 1), 360)) if count else timedelta(0)
