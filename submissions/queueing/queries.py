"""What pages, API and command line say of the queue, with the same words."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from evaluation.alerts.queries import Standstill, standstill
from submissions.models import Submission
from submissions.queueing.models import QueueStanding
from submissions.queueing.policies import FARTHEST, LATEST, UNKNOWN
from submissions.queueing.services import AHEAD

State = Submission.State
NOT_BEGUN = (State.CREATED, State.CHECKING, State.QUEUED)
SHOWN = (*AHEAD, State.GRADING)

PLACE_WORDS: dict[str, Promise] = {
    "1-3": _("among the first three"),
    "4-10": _("between 4 and 10"),
    "11-30": _("between 11 and 30"),
    FARTHEST: _("after the thirtieth"),
}
TIME_WORDS: dict[str, Promise] = {
    "within_2_hours": _("within 2 hours"),
    "2_to_6_hours": _("in 2 to 6 hours"),
    "6_to_24_hours": _("in 6 to 24 hours"),
    "1_to_2_days": _("in 1 to 2 days"),
    "2_to_7_days": _("in 2 to 7 days"),
    LATEST: _("in more than a week"),
    UNKNOWN: _("not known yet: too few submissions were measured"),
}
TIME_KEYS = list(TIME_WORDS)
"""Their keys, as the API's description names them once."""


@dataclass(frozen=True)
class Queue:
    """How a submission waits. `place`, `starts` and `ends` are as of `noted_at`, and empty where nothing was noted."""

    state: str
    """queued while nothing of it can be executed now, else served."""
    place: str
    starts: str
    """Empty too once held-out tasks have started."""
    ends: str
    noted_at: datetime | None
    paused: Standstill | None

    @property
    def place_words(self) -> str:
        return str(PLACE_WORDS.get(self.place, ""))

    @property
    def starts_words(self) -> str:
        return str(TIME_WORDS.get(self.starts, ""))

    @property
    def ends_words(self) -> str:
        return str(TIME_WORDS.get(self.ends, ""))

    @property
    def oldest_wait_minutes(self) -> int | None:
        """How long anybody has waited by now, in whole steps of ten minutes; None while evaluation goes on."""
        return int(self.paused.oldest_wait.total_seconds() // 60) if self.paused else None

    def face(self) -> list[Any]:
        """What of it can change, without the time that passes by itself."""
        paused = [list(self.paused.queues), self.paused.ordered, self.paused.since] if self.paused else None
        return [self.state, self.place, self.starts, self.ends, self.noted_at, paused]


def queue_of(submission: Submission) -> Queue | None:
    """How it stands in the queue; None where it waits for no worker."""
    if submission.state not in SHOWN:
        return None
    noted = QueueStanding.objects.filter(submission=submission).first()
    paused = standstill()
    in_line = submission.state in AHEAD
    return Queue(
        state="queued" if paused or submission.state in NOT_BEGUN else "served",
        place=noted.place if noted and in_line else "",
        starts=noted.starts if noted and in_line and submission.held_out_run_id is None else "",
        ends=noted.ends if noted and in_line else "",
        noted_at=noted.noted_at if noted and in_line else None,
        paused=paused,
    )
