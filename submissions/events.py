"""Audit event kinds of submissions. What people typed stands in them as `audit.texts.concealed` only."""

from __future__ import annotations

from typing import ClassVar

from audit.events import Event


class HarnessRegistered(Event):
    kind: ClassVar[str] = "harness.registered"
    version: ClassVar[int] = 2
    subject_type: ClassVar[str] = "harness"
    name: str
    """Concealed."""
    relation: str


class HarnessVersionRegistered(Event):
    kind: ClassVar[str] = "harness.version_registered"
    version: ClassVar[int] = 2
    subject_type: ClassVar[str] = "harness_version"
    harness: str
    harness_version: str
    """Concealed."""
    card_digest: str
    card_schema: int


class UploadOpened(Event):
    kind: ClassVar[str] = "upload.opened"
    subject_type: ClassVar[str] = "upload"
    harness_version: str
    sha256: str | None = None
    size: int | None = None


class UploadVerifying(Event):
    """Its bytes are taken in hand: from now on nobody else joins or checks them."""

    kind: ClassVar[str] = "upload.verifying"
    subject_type: ClassVar[str] = "upload"


class UploadUsed(Event):
    kind: ClassVar[str] = "upload.used"
    subject_type: ClassVar[str] = "upload"
    submission: str


class UploadEnded(Event):
    """Complete, failed, aborted or expired: `outcome` says which, `cause` why it failed."""

    kind: ClassVar[str] = "upload.ended"
    subject_type: ClassVar[str] = "upload"
    cause: str | None = None
    sha256: str | None = None
    size: int | None = None


class UploadRemoved(Event):
    kind: ClassVar[str] = "upload.removed_from_quarantine"
    subject_type: ClassVar[str] = "upload"


class QuotaPolicySet(Event):
    kind: ClassVar[str] = "quota.policy_set"
    subject_type: ClassVar[str] = "task_set"
    profile: str
    rules: dict[str, int]
    valid_from: str


class TaskSetClosed(Event):
    kind: ClassVar[str] = "task_set.closed"
    subject_type: ClassVar[str] = "task_set"


class AdmissionStopped(Event):
    kind: ClassVar[str] = "quota.admission_stopped"
    subject_type: ClassVar[str] = "task_set"
    cause: str
    lineage: str | None = None
    until: str | None = None


class AdmissionStopLifted(Event):
    kind: ClassVar[str] = "quota.admission_stop_lifted"
    subject_type: ClassVar[str] = "task_set"
    cause: str
    lineage: str | None = None


class SubmissionAdmitted(Event):
    kind: ClassVar[str] = "submission.admitted"
    subject_type: ClassVar[str] = "submission"
    harness_version: str
    task_set: str
    package_digest: str
    card_digest: str
    upload: str
    lineage: str
    cooldown_until: str | None = None
    publication_consent: int


class SubmissionMoved(Event):
    kind: ClassVar[str] = "submission.moved"
    subject_type: ClassVar[str] = "submission"
    before: str
    after: str
    cause: str


class SubmissionAnsweredByEarlier(Event):
    kind: ClassVar[str] = "submission.answered_by_earlier"
    subject_type: ClassVar[str] = "submission"
    upload: str


class SlotReserved(Event):
    kind: ClassVar[str] = "slot.reserved"
    subject_type: ClassVar[str] = "slot"
    submission: str
    task_set: str
    line: str
    lineage: str


class SlotConsumed(Event):
    kind: ClassVar[str] = "slot.consumed"
    subject_type: ClassVar[str] = "slot"
    submission: str
    cause: str


class SlotRefunded(Event):
    kind: ClassVar[str] = "slot.refunded"
    version: ClassVar[int] = 2
    subject_type: ClassVar[str] = "slot"
    submission: str
    cause: str
    reason: str | None = None
    """Staff's words, concealed."""


class CooldownLifted(Event):
    kind: ClassVar[str] = "cooldown.lifted"
    subject_type: ClassVar[str] = "submission"
    cause: str


class CanaryStarted(Event):
    """A canary of its own, where the move to the queue did not start one."""

    kind: ClassVar[str] = "submission.canary_started"
    subject_type: ClassVar[str] = "submission"
    run: str


class RunsRepeated(Event):
    kind: ClassVar[str] = "submission.lost_runs_repeated"
    subject_type: ClassVar[str] = "submission"
    count: int
    round: int


class PublicationConsentChanged(Event):
    kind: ClassVar[str] = "submission.publication_consent_changed"
    subject_type: ClassVar[str] = "submission"
    consent: int
