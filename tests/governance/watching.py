"""Alarms as a test puts them in place, without an analysis behind them."""

from __future__ import annotations

from typing import Any

from config import clock
from config.ids import new_id
from governance.watch.models import Alarm, AlarmEvidence
from submissions.models import Submission
from tests.factories import recorded_as


def alarm_of(
    submission: Submission,
    *,
    channel: str = "contrast",
    kind: str = Alarm.Kind.REVIEW,
    evidence: dict[str, Any] | None = None,
    **facts: Any,
) -> Alarm:
    """An alarm about the submission; without evidence there is no row of it."""
    which = new_id()
    with recorded_as("alarm", which):
        row = Alarm.objects.create(
            id=which,
            task_set=submission.task_set,
            organisation=submission.organisation,
            harness=submission.harness_version.harness,
            submission=submission,
            channel=channel,
            kind=kind,
            **{"statistic": 4.0, "level": 3.05, "raised_at": clock.now(), **facts},
        )
        if evidence is not None:
            AlarmEvidence.objects.create(alarm=row, content=evidence)
    return row
