"""What can be done in a case in each of its states, by whom, until when, and what happens when nothing is. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from accounts.duties.table import Duty
from governance.desk.policies import working_days_after


class Act(StrEnum):
    """What a reviewer decides, each with a reason."""

    TAKE = "take"
    WATCH = "watch"
    HOLD = "hold"
    ASK = "ask"
    LINK = "link"
    FALSE_ALARM = "false_alarm"
    ROTATE = "rotate"
    SETTLE = "settle"


class Happening(StrEnum):
    """What moves a case without a decision."""

    ALARM = "alarm"
    ANSWERED = "answered"
    LATE = "late"


@dataclass(frozen=True)
class Stage:
    """A state that is no end: whose it is, for how many working days, and where it goes when they are over."""

    owner: Duty
    days: int
    late: str


CLOSED: Final = "closed"
FIRST: Final = "open"
_GOVERNOR = Duty.HELD_OUT_GOVERNOR

STAGES: Final[Mapping[str, Stage]] = {
    "open": Stage(_GOVERNOR, 3, "escalated"),
    "reviewing": Stage(_GOVERNOR, 10, "escalated"),
    "asked": Stage(_GOVERNOR, 10, "reviewing"),
    "watching": Stage(_GOVERNOR, 60, CLOSED),
    "escalated": Stage(_GOVERNOR, 10, CLOSED),
}
"""An escalated case is for a governor other than the one who let it lie; in a case of the operator's an arbiter has
part in every decision. What lies there too long is closed without a finding: waiting never counts against a vendor."""

_DECIDED: Final[Mapping[str, str]] = {
    Act.WATCH: "watching",
    Act.HOLD: "reviewing",
    Act.ASK: "asked",
    Act.LINK: "reviewing",
    Act.ROTATE: "reviewing",
    Act.FALSE_ALARM: CLOSED,
    Act.SETTLE: CLOSED,
}
MOVES: Final[Mapping[tuple[str, str], str]] = {
    **{
        (state, act): to
        for state in STAGES
        for act, to in _DECIDED.items()
        if (state, act) != ("asked", Act.ASK)
    },
    **{(state, Act.TAKE): "reviewing" for state in ("open", "watching", "escalated")},
    ("watching", Happening.ALARM): "open",
    ("asked", Happening.ANSWERED): "reviewing",
    **{(state, Happening.LATE): stage.late for state, stage in STAGES.items()},
}
"""From a state by a decision or a happening to the next. An alarm that comes elsewhere joins the case where it is."""

PAIRS: Final[Mapping[str, tuple[str, ...]]] = {
    state: tuple(sorted({to for (was, _), to in MOVES.items() if was == state} - {state})) for state in STAGES
}
"""For the database: which states follow which."""


class Outcome(StrEnum):
    """How a case was closed."""

    FALSE_ALARM = "false_alarm"
    SETTLED = "settled"
    QUIET = "quiet"
    LAPSED = "lapsed"


OUTCOMES: Final[Mapping[tuple[str, str], Outcome]] = {
    ("watching", Happening.LATE): Outcome.QUIET,
    ("escalated", Happening.LATE): Outcome.LAPSED,
    **{(state, Act.FALSE_ALARM): Outcome.FALSE_ALARM for state in STAGES},
    **{(state, Act.SETTLE): Outcome.SETTLED for state in STAGES},
}


@dataclass(frozen=True)
class Standing:
    """Where a case stands. At the end there is no deadline, and an outcome."""

    state: str
    since: datetime
    due: datetime | None
    outcome: str = ""

    @property
    def owner(self) -> Duty | None:
        """Whose turn it is; nobody's at the end."""
        stage = STAGES.get(self.state)
        return stage.owner if stage else None


def begin(now: datetime) -> Standing:
    return _enter(FIRST, now)


def step(standing: Standing, what: str, now: datetime) -> Standing | None:
    """Where it leads; None where it is not possible. A decision in the present state begins its time anew only where
    the state changes, so that nobody keeps a case open by repeating one."""
    to = MOVES.get((standing.state, what))
    if to is None:
        return None
    if to == standing.state:
        return standing
    return _enter(to, now, OUTCOMES.get((standing.state, what), ""))


def is_late(standing: Standing, now: datetime) -> bool:
    return standing.due is not None and now >= standing.due


def _enter(state: str, now: datetime, outcome: str = "") -> Standing:
    stage = STAGES.get(state)
    return Standing(state, now, working_days_after(now, stage.days) if stage else None, outcome)


def acts(state: str) -> tuple[Act, ...]:
    """What can be decided in this state, in the order in which pages offer it."""
    return tuple(act for act in Act if (state, act) in MOVES)
