"""What may become of a reported defect, until when, and by whom. Pure: no database.

Frozen tasks stay as they are; a fix enters the next version.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final

from accounts.duties.table import Duty

INITIAL: Final = "reported"
MOVES: Final[Mapping[str, tuple[str, ...]]] = {
    "reported": ("confirmed", "dismissed"),
    "confirmed": ("mended", "dismissed"),
    "mended": ("settled", "confirmed"),
}
ENDS: Final = frozenset({"settled", "dismissed"})
LIVE: Final = frozenset({"confirmed", "mended"})
"""States in which the task counts as under revision."""
STAYS: Final[Mapping[str, timedelta]] = {
    "reported": timedelta(days=14),
    "confirmed": timedelta(days=60),
    "mended": timedelta(days=120),
}
"""Until when each has to go on; after that it is escalated."""
OWNERS: Final[Mapping[str, Duty]] = {
    "reported": Duty.SCORING_MAINTAINER,
    "confirmed": Duty.TASK_AUTHOR,
    "mended": Duty.HELD_OUT_GOVERNOR,
}
ESCALATES: Final[Mapping[str, Duty]] = {
    "reported": Duty.HELD_OUT_GOVERNOR,
    "confirmed": Duty.HELD_OUT_GOVERNOR,
    "mended": Duty.SCORING_MAINTAINER,
}
"""Who may act too once the deadline has passed."""
SEE: Final = frozenset({Duty.SCORING_MAINTAINER, Duty.TASK_AUTHOR, Duty.HELD_OUT_GOVERNOR})
"""Duties that see held-out tasks, and so the queue."""
ANOMALOUS: Final = 0.5
"""A task on which the random baseline scores more than this on average is reported: its rules ask for too little."""
LEAST_RUNS: Final = 3


def actors(state: str, *, is_escalated: bool) -> frozenset[Duty]:
    """Duties whose holders may move it on."""
    if state in ENDS:
        return frozenset()
    return frozenset({OWNERS[state]} | ({ESCALATES[state]} if is_escalated else set()))


def due_at(state: str, since: datetime) -> datetime | None:
    """Until when it should have gone on; None at an end."""
    return None if state in ENDS else since + STAYS[state]


def is_anomalous(scores: list[float]) -> bool:
    """Whether the random baseline does so well on a task, over these runs, that its rules deserve a look."""
    return len(scores) >= LEAST_RUNS and sum(scores) / len(scores) > ANOMALOUS
