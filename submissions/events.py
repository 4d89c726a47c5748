"""Audit event kinds of submissions. What people typed stands in them as `audit.texts.concealed` only."""

from __future__ import annotations

from typing import ClassVar

from django.utils.translation import gettext_lazy as _

from audit.events import Event


class HarnessRegistered(Event):
    kind: ClassVar[str] = "harness.registered"
    version: ClassVar[int] = 2
    subject_type: ClassVar[str] = "harness"
    sentence = _("{actor} registered the harness {subject}; relation: {relation}.")
    name: str
    """Concealed."""
    relation: str


class HarnessOwnerNamed(Event):
    """`owner` is the contact address, concealed."""

    kind: ClassVar[str] = "harness.owner_named"
    subject_type: ClassVar[str] = "harness"
    sentence = _("{actor} named the owner of the harness {subject}.")
    owner: str


class OwnerNoticeOrdered(Event):
    kind: ClassVar[str] = "owner_notice.ordered"
    subject_type: ClassVar[str] = "submission"
    sentence = _("{actor} checked the owner's address and had the owner told of the submission {subject}.")
    ordered_by: str


class OwnerNoticeSent(Event):
    kind: ClassVar[str] = "owner_notice.sent"
    subject_type: ClassVar[str] = "submission"
    sentence = _(
        "The owner was told of the submission {subject}; it may be published from {publishable_from}."
    )
    publishable_from: str


class OwnerNoticeGivenUp(Event):
    kind: ClassVar[str] = "owner_notice.given_up"
    subject_type: ClassVar[str] = "submission"
    sentence = _(
        "The mail to the owner about the submission {subject} failed {attempts} times and was given up."
    )
    attempts: int


class OwnerObjected(Event):
    """`objection` is concealed."""

    kind: ClassVar[str] = "owner_notice.objected"
    subject_type: ClassVar[str] = "submission"
    sentence = _("{actor} recorded that the owner objects to publishing the submission {subject}.")
    objection: str


class HarnessVersionRegistered(Event):
    kind: ClassVar[str] = "harness.version_registered"
    version: ClassVar[int] = 2
    subject_type: ClassVar[str] = "harness_version"
    sentence = _("{actor} registered the version {subject} of the harness {harness}.")
    harness: str
    harness_version: str
    """Concealed."""
    card_digest: str
    card_schema: int


class UploadOpened(Event):
    kind: ClassVar[str] = "upload.opened"
    subject_type: ClassVar[str] = "upload"
    sentence = _("{actor} opened the upload {subject} for the version {harness_version}.")
    harness_version: str
    sha256: str | None = None
    size: int | None = None


class UploadVerifying(Event):
    """Its bytes are taken in hand: from now on nobody else joins or checks them."""

    kind: ClassVar[str] = "upload.verifying"
    subject_type: ClassVar[str] = "upload"
    sentence = _("The bytes of the upload {subject} are being checked.")


class UploadUsed(Event):
    kind: ClassVar[str] = "upload.used"
    subject_type: ClassVar[str] = "upload"
    sentence = _("The upload {subject} was used by the submission {submission}.")
    submission: str


class UploadEnded(Event):
    """Complete, failed, aborted or expired: `outcome` says which, `cause` why it failed."""

    kind: ClassVar[str] = "upload.ended"
    subject_type: ClassVar[str] = "upload"
    sentence = _("The upload {subject} ended: {outcome}.")
    cause: str | None = None
    sha256: str | None = None
    size: int | None = None


class UploadRemoved(Event):
    kind: ClassVar[str] = "upload.removed_from_quarantine"
    subject_type: ClassVar[str] = "upload"
    sentence = _("The bytes of the upload {subject} left quarantine ({outcome}).")


class QuotaPolicySet(Event):
    """`people`, by pseudonym, are who proposed and who approved an official policy."""

    kind: ClassVar[str] = "quota.policy_set"
    version: ClassVar[int] = 2
    subject_type: ClassVar[str] = "task_set"
    sentence = _("{actor} set quota rules of the task set {subject} ({profile}), in force from {valid_from}.")
    profile: str
    rules: dict[str, int]
    valid_from: str
    people: list[str] | None = None


class TaskSetClosed(Event):
    kind: ClassVar[str] = "task_set.closed"
    subject_type: ClassVar[str] = "task_set"
    sentence = _("{actor} closed the task set {subject} for submissions.")


class AdmissionStopped(Event):
    kind: ClassVar[str] = "quota.admission_stopped"
    subject_type: ClassVar[str] = "task_set"
    sentence = _("{actor} stopped admissions to the task set {subject}: {cause}.")
    cause: str
    lineage: str | None = None
    until: str | None = None


class AdmissionStopLifted(Event):
    kind: ClassVar[str] = "quota.admission_stop_lifted"
    subject_type: ClassVar[str] = "task_set"
    sentence = _("{actor} lifted a stop of admissions to the task set {subject}.")
    cause: str
    lineage: str | None = None


class SubmissionAdmitted(Event):
    kind: ClassVar[str] = "submission.admitted"
    subject_type: ClassVar[str] = "submission"
    sentence = _(
        "{actor} was admitted with the submission {subject} of the version {harness_version} to {task_set}."
    )
    harness_version: str
    task_set: str
    package_digest: str
    card_digest: str
    upload: str
    lineage: str
    cooldown_until: str | None = None
    publication_consent: int


class PreflightAdmitted(Event):
    """A preflight on its own: its moves are events of a submission, its slot there is none."""

    kind: ClassVar[str] = "preflight.admitted"
    subject_type: ClassVar[str] = "submission"
    sentence = _(
        "{actor} was admitted with the preflight {subject} of the version {harness_version} "
        "on the public tasks of {task_set}."
    )
    harness_version: str
    task_set: str
    package_digest: str
    card_digest: str
    upload: str
    lineage: str


class SubmissionMoved(Event):
    kind: ClassVar[str] = "submission.moved"
    subject_type: ClassVar[str] = "submission"
    sentence = _("{actor} moved the submission {subject} from {before} to {after}: {cause}.")
    before: str
    after: str
    cause: str


class SubmissionAnsweredByEarlier(Event):
    kind: ClassVar[str] = "submission.answered_by_earlier"
    subject_type: ClassVar[str] = "submission"
    sentence = _("{actor} sent a package again and was answered with the earlier submission {subject}.")
    upload: str


class SlotReserved(Event):
    """Outside the quota where it names an `offer` of a re-run."""

    kind: ClassVar[str] = "slot.reserved"
    version: ClassVar[int] = 2
    subject_type: ClassVar[str] = "slot"
    sentence = _("The submission {submission} reserved the slot {subject} on {task_set}.")
    submission: str
    task_set: str
    line: str
    lineage: str
    offer: str | None = None


class SlotConsumed(Event):
    kind: ClassVar[str] = "slot.consumed"
    subject_type: ClassVar[str] = "slot"
    sentence = _("The submission {submission} used the slot {subject}: {cause}.")
    submission: str
    cause: str


class SlotRefunded(Event):
    kind: ClassVar[str] = "slot.refunded"
    version: ClassVar[int] = 2
    subject_type: ClassVar[str] = "slot"
    sentence = _("{actor} returned the slot {subject} of the submission {submission}: {cause}.")
    submission: str
    cause: str
    reason: str | None = None
    """Staff's words, concealed."""


class UseReturnProposed(Event):
    """`reason` is concealed."""

    kind: ClassVar[str] = "use_return.proposed"
    subject_type: ClassVar[str] = "use_return"
    sentence = _("{proposed_by} proposed to return the use of the submission {submission}.")
    slot: str
    submission: str
    proposed_by: str
    reason: str


class UseReturnApproved(Event):
    """`slot.refunded` follows in the same transaction."""

    kind: ClassVar[str] = "use_return.approved"
    subject_type: ClassVar[str] = "use_return"
    sentence = _("{approved_by} approved to return the use of the submission {submission}.")
    slot: str
    submission: str
    approved_by: str
    at: str


class UseReturnWithdrawn(Event):
    """Taken back or declined."""

    kind: ClassVar[str] = "use_return.withdrawn"
    subject_type: ClassVar[str] = "use_return"
    sentence = _("{withdrawn_by} withdrew the proposal to return the use of the submission {submission}.")
    slot: str
    submission: str
    withdrawn_by: str
    at: str


class CooldownLifted(Event):
    kind: ClassVar[str] = "cooldown.lifted"
    subject_type: ClassVar[str] = "submission"
    sentence = _("{actor} lifted the cooldown of the submission {subject}: {cause}.")
    cause: str


class CanaryStarted(Event):
    """A canary of its own, where the move to the queue did not start one."""

    kind: ClassVar[str] = "submission.canary_started"
    subject_type: ClassVar[str] = "submission"
    sentence = _("{actor} started a canary run for the submission {subject}.")
    run: str


class RunsRepeated(Event):
    kind: ClassVar[str] = "submission.lost_runs_repeated"
    subject_type: ClassVar[str] = "submission"
    sentence = _("{actor} repeats {count} lost runs of the submission {subject}, round {round}.")
    count: int
    round: int


class PublicationConsentChanged(Event):
    kind: ClassVar[str] = "submission.publication_consent_changed"
    subject_type: ClassVar[str] = "submission"
    sentence = _("{actor} changed the consent to publish the submission {subject} to {consent}.")
    consent: int


class WebhookCreated(Event):
    """`address` is concealed: it is the vendor's own."""

    kind: ClassVar[str] = "webhook.created"
    subject_type: ClassVar[str] = "webhook"
    sentence = _("{actor} created the webhook {subject} of the organisation {owner}.")
    owner: str
    kinds: list[str]
    address: str


class WebhookDisabled(Event):
    """Its address had accepted nothing for days."""

    kind: ClassVar[str] = "webhook.disabled"
    subject_type: ClassVar[str] = "webhook"
    sentence = _("{actor} switched off the webhook {subject}.")


class WebhookEnabled(Event):
    kind: ClassVar[str] = "webhook.enabled"
    subject_type: ClassVar[str] = "webhook"
    sentence = _("{actor} switched on the webhook {subject}.")


class WebhookRemoved(Event):
    kind: ClassVar[str] = "webhook.removed"
    subject_type: ClassVar[str] = "webhook"
    sentence = _("{actor} removed the webhook {subject}.")


class OpeningProposed(Event):
    """`reason` is concealed."""

    kind: ClassVar[str] = "package.opening_proposed"
    subject_type: ClassVar[str] = "package_opening"
    sentence = _(
        "{proposed_by} proposed to open the package of the submission {submission} for {hours} hours."
    )
    submission: str
    hours: int
    proposed_by: str
    reason: str


class OpeningApproved(Event):
    kind: ClassVar[str] = "package.opening_approved"
    subject_type: ClassVar[str] = "package_opening"
    sentence = _("{approved_by} approved to open the package of the submission {submission} until {closes}.")
    submission: str
    approved_by: str
    at: str
    closes: str


class OpeningKeyLent(Event):
    """From now on the two can read it: a worker has sealed the package's key to the console."""

    kind: ClassVar[str] = "package.key_lent"
    subject_type: ClassVar[str] = "package_opening"
    sentence = _("The console was lent the key of the package of the submission {submission}.")
    submission: str


class PackageRead(Event):
    """Before the first byte. `package` is the digest of what was uploaded."""

    kind: ClassVar[str] = "package.read"
    subject_type: ClassVar[str] = "package_opening"
    sentence = _("{actor} read the package of the submission {submission}.")
    submission: str
    package: str


class OpeningEnded(Event):
    """By somebody, or by its hours; a proposal that is withdrawn ends too."""

    kind: ClassVar[str] = "package.opening_ended"
    subject_type: ClassVar[str] = "package_opening"
    sentence = _("The opening {subject} of the package of the submission {submission} is over ({outcome}).")
    submission: str


class PackageDeleted(Event):
    """Keys and bytes are destroyed; the digest stays."""

    kind: ClassVar[str] = "package.deleted"
    subject_type: ClassVar[str] = "submission"
    sentence = _("The package of the submission {subject} was deleted; its digest stays on record.")
    package: str
    at: str
