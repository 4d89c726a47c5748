"""When a task enters the queue, what its entry and a plan may do next, and how much of a version rotates. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from math import ceil, floor
from typing import Final

from accounts.duties.table import Decision, Duty

GATE_BITS: Final = 1.0
ALL_BITS: Final = 3.0
CONTENT_ORGANISATIONS: Final = 3
PLANNED_SHARE: Final = 0.03
"""Of the held-out tasks of a domain, drawn at random whatever is known of them."""
MOST_SHARE: Final = 0.15
COVER_SHARE: Final = 0.20
"""Unexposed tasks that go along, as a share of those that leave for a reason."""
PUBLIC_SHARE: Final = 0.2
"""At most so many of a domain's leaving tasks become public."""
STOCK_FACTOR: Final = 2
"""The reserve of a stratum is short below so many times what a version is expected to need."""
SATURATED: Final = 0.95
"""Mean score of the best baseline from which a task tells harnesses apart no more; it is kept as a regression case."""

ANCHORS: Final = 3
"""Fixed harnesses that run on both versions before the next one comes into force."""


class Cause(StrEnum):
    """Why a task entered the queue."""

    GATE_BITS = "gate_bits"
    ALL_BITS = "all_bits"
    CONTENT = "content"
    DRIFT = "drift"
    LEAK = "leak"
    HAND = "hand"


class Verdict(StrEnum):
    KEEP_WATCHING = "keep_watching"
    ROTATE = "rotate"
    RETIRE = "retire"
    FALSE_ALARM = "false_alarm"


class Origin(StrEnum):
    """Why a task leaves with a plan; never published."""

    QUEUE = "queue"
    PLANNED = "planned"
    COVER = "cover"


ENTRY_MOVES: Final[Mapping[str, tuple[str, ...]]] = {
    "queued": ("proposed",),
    "proposed": ("queued", "watching", "rotating", "retiring", "dismissed"),
    "watching": ("queued",),
    "rotating": ("replaced",),
    "retiring": ("retired",),
}
ENTRY_ENDS: Final = frozenset({"replaced", "retired", "dismissed"})
ENTRY_STAYS: Final[Mapping[str, timedelta]] = {
    "queued": timedelta(days=14),
    "proposed": timedelta(days=7),
    "watching": timedelta(days=60),
    "rotating": timedelta(days=180),
    "retiring": timedelta(days=180),
}
"""At the deadline a proposal lapses and a watch ends, both back into the queue; elsewhere the owner changes."""
BACK_TO_QUEUE: Final = frozenset({"proposed", "watching"})
ENTRY_BECOMES: Final[Mapping[Verdict, str]] = {
    Verdict.KEEP_WATCHING: "watching",
    Verdict.ROTATE: "rotating",
    Verdict.RETIRE: "retiring",
    Verdict.FALSE_ALARM: "dismissed",
}

PLAN_MOVES: Final[Mapping[str, tuple[str, ...]]] = {
    "seeded": ("drawn", "discarded"),
    "drawn": ("proposed", "discarded"),
    "proposed": ("approved", "drawn", "discarded"),
    "approved": ("composed", "discarded"),
    "composed": ("in_force", "discarded"),
}
PLAN_ENDS: Final = frozenset({"in_force", "discarded"})
PLAN_STAYS: Final[Mapping[str, timedelta]] = {
    "seeded": timedelta(days=14),
    "drawn": timedelta(days=14),
    "proposed": timedelta(days=7),
    "approved": timedelta(days=60),
    "composed": timedelta(days=60),
}
OWNER: Final = Duty.HELD_OUT_GOVERNOR.value
ESCALATED_TO: Final = Duty.ADMINISTRATOR.value
"""Who cannot decide, but can see to it that there is somebody who does."""


def decision_of(verdict: Verdict) -> Decision:
    """Which two people it takes."""
    return Decision.RETIREMENT if verdict is Verdict.RETIRE else Decision.ROTATION


@dataclass(frozen=True)
class Exposed:
    """What is known of one held-out task. Bits as in the leak ledger; `drifted`: its pass rate alarmed."""

    every: float
    gate: float
    organisations: int
    score: float
    drifted: bool = False


def causes(facts: Exposed) -> list[Cause]:
    """Why this task enters the queue by itself, gravest first; empty where it does not."""
    found = []
    if facts.gate >= GATE_BITS:
        found.append(Cause.GATE_BITS)
    if facts.drifted:
        found.append(Cause.DRIFT)
    if facts.every >= ALL_BITS:
        found.append(Cause.ALL_BITS)
    if facts.organisations >= CONTENT_ORGANISATIONS:
        found.append(Cause.CONTENT)
    return found


@dataclass(frozen=True)
class Shares:
    """How many tasks of a domain leave: drawn at random, from the queue, and as cover beside those."""

    planned: int
    queued: int
    cover: int

    @property
    def total(self) -> int:
        return self.planned + self.queued + self.cover


def shares(held_out: int, waiting: int, unexposed: int) -> Shares:
    """Of a domain of `held_out` tasks, `waiting` of them decided for rotation, `unexposed` of them never exposed.

    What is over 15 % stays in the queue. The cover is a fifth of those that leave for a reason, rounded up, so that
    the batch never tells which ones they were; where the cap bites it comes out of the same 15 %.
    """
    most = floor(MOST_SHARE * held_out)
    planned = min(ceil(PLANNED_SHARE * held_out), most)
    room = most - planned
    queued = min(waiting, room)
    while queued and queued + _cover(queued, unexposed) > room:
        queued -= 1
    return Shares(planned, queued, _cover(queued, unexposed))


def _cover(queued: int, unexposed: int) -> int:
    return min(ceil(COVER_SHARE * queued), unexposed)


def short(stock: int, needed: float) -> bool:
    """Whether a stratum's reserve is below twice what a version is expected to need of it."""
    return stock < STOCK_FACTOR * needed
