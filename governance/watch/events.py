"""Audit event kinds of live detection. Nothing of a task is in them, nor what an alarm rests on."""

from __future__ import annotations

from typing import ClassVar

from django.utils.translation import gettext_lazy as _

from audit.events import Event


class DetectionLevelsSet(Event):
    kind: ClassVar[str] = "detection_levels.set"
    subject_type: ClassVar[str] = "detection_levels"
    sentence = _("{actor} set the levels of detection {subject} for {runs_per_task} runs a task.")
    runs_per_task: int
    levels: dict[str, str]
    record: str
    """SHA-256 of the calibration record in canonical form."""


class SubmissionAnalysed(Event):
    """`behaviour` conceals the digest of what the detectors saw; `levels` is the row of levels that held."""

    kind: ClassVar[str] = "submission.analysed"
    subject_type: ClassVar[str] = "submission"
    sentence = _("{actor} analysed the submission {subject} of {task_set} as number {sequence}.")
    task_set: str
    sequence: int
    levels: str
    behaviour: str


class AnalysisFailed(Event):
    """For the operator: the submission is not released while this lasts; see the runbook."""

    kind: ClassVar[str] = "submission.analysis_failed"
    subject_type: ClassVar[str] = "submission"
    sentence = _("The analysis of the submission {subject} failed {failures} times: {cause}.")
    failures: int
    cause: str
    outcome: str = "failed"


class AnalysisGivenUp(Event):
    """The submission may be released without; it is analysed once the fault is mended."""

    kind: ClassVar[str] = "submission.analysis_given_up"
    subject_type: ClassVar[str] = "submission"
    sentence = _(
        "{actor} let the submission {subject} through without its analysis, which fails for too long."
    )
    failures: int
    cause: str


class AlarmRaised(Event):
    """What the alarm rests on is kept apart, for reviewers."""

    kind: ClassVar[str] = "alarm.raised"
    subject_type: ClassVar[str] = "alarm"
    sentence = _("{actor} raised the alarm {subject} about {submission}: {channel} reached {statistic}.")
    task_set: str
    submission: str
    harness: str
    channel: str
    level_kind: str
    statistic: str
    level: str


class AlarmEvidenceRead(Event):
    """Somebody was shown what an alarm rests on, which names tasks; recorded before the body is sent."""

    kind: ClassVar[str] = "alarm.evidence_read"
    subject_type: ClassVar[str] = "alarm"
    sentence = _("{actor} was shown what the alarm {subject} rests on.")
    surface: str


class ExposureRead(Event):
    """Somebody was shown how much each held-out task of a version has told; recorded before the body is sent."""

    kind: ClassVar[str] = "exposure.read"
    subject_type: ClassVar[str] = "task_set"
    sentence = _("{actor} was shown the exposure of the tasks of {subject}.")
    surface: str
