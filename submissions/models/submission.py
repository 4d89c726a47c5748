"""A submission, the moves it made, and the keys under which repeated requests get the same answer."""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from accounts.models import Organisation
from benchmark.models import TaskSetVersion
from config.ids import new_id
from evaluation.models import EvaluationRun, StoredPackage
from submissions.models.registry import HarnessVersion
from submissions.models.upload import Upload
from submissions.policies.states import PREFLIGHT_STATES


class WholeSubmissions(models.Manager["Submission"]):
    """All but preflights on their own, so that nothing takes one of those for a submission by an oversight."""

    def get_queryset(self) -> models.QuerySet[Submission]:
        return super().get_queryset().filter(scope=Submission.Scope.FULL)


class Submission(models.Model):
    """One harness version on one task-set version. `state` changes only through `services.moves.move`.

    A preflight on its own is a row with that scope: it is checked and run on the public tasks as any submission is,
    and ends there. It has no slot, no cooldown, no held-out run.
    """

    class Scope(models.TextChoices):
        FULL = "full", _("submission")
        PREFLIGHT = "preflight", _("preflight only")

    class State(models.TextChoices):
        CREATED = "created", _("received")
        CHECKING = "checking", _("being checked")
        PREFLIGHT = "preflight", _("preflight")
        QUEUED = "queued", _("queued")
        RUNNING = "running", _("running")
        PAUSED = "paused", _("paused")
        GRADING = "grading", _("grading")
        AWAITING_CHOICE = "awaiting_choice", _("waiting for your choice")
        HELD = "held", _("held for review")
        COMPLETE = "complete", _("complete")
        REJECTED = "rejected", _("rejected at intake")
        PREFLIGHT_PASSED = "preflight_passed", _("preflight passed")
        PREFLIGHT_FAILED = "preflight_failed", _("preflight failed")
        CANCELLED = "cancelled", _("cancelled")
        INCOMPLETE = "incomplete", _("incomplete")
        VOIDED = "voided", _("voided")

    class Channel(models.TextChoices):
        WEB = "web", _("web form")
        API = "api", _("API")

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    scope = models.CharField(max_length=12, choices=Scope.choices, default=Scope.FULL)
    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="submissions")
    harness_version = models.ForeignKey(HarnessVersion, on_delete=models.PROTECT, related_name="submissions")
    task_set = models.ForeignKey(TaskSetVersion, on_delete=models.PROTECT, related_name="submissions")
    upload = models.ForeignKey(Upload, on_delete=models.PROTECT, related_name="submissions")
    """Used up by one whole submission; any number of preflights may read it before."""
    account = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="submissions", null=True, blank=True
    )
    channel = models.CharField(max_length=8, choices=Channel.choices)
    publication_consent = models.BooleanField(default=False)
    """Whether the vendor agreed that a confirmed result may be published. Nothing is published without it."""

    state = models.CharField(max_length=20, choices=State.choices, default=State.CREATED)
    reason_code = models.CharField(max_length=40, blank=True)
    """Problem code of how it came to this state, where there is something to say."""
    reason_facts = models.JSONField(default=dict)
    """What fills that code's sentence: names and numbers of the vendor's own package, never of a held-out task."""
    state_since = models.DateTimeField()
    paused_from = models.CharField(max_length=20, blank=True)

    package_digest = models.CharField(max_length=64)
    content_digest = models.CharField(max_length=64, blank=True, db_default="")
    """Of the package apart from its version line (`submissions.intake.content`); empty before intake has read it."""
    card_digest = models.CharField(max_length=64)
    protocol_version = models.CharField(max_length=16)
    evaluator_version = models.CharField(max_length=16)
    runs_per_task = models.PositiveSmallIntegerField()
    manifest = models.JSONField(default=dict)
    """harness.toml as read, once accepted: name, version, command, limit_seconds."""

    package = models.ForeignKey(
        StoredPackage, on_delete=models.PROTECT, related_name="+", null=True, blank=True
    )
    preflight_run = models.OneToOneField(
        EvaluationRun, on_delete=models.PROTECT, related_name="+", null=True, blank=True
    )
    canary_run = models.OneToOneField(
        EvaluationRun, on_delete=models.PROTECT, related_name="+", null=True, blank=True
    )
    held_out_run = models.OneToOneField(
        EvaluationRun, on_delete=models.PROTECT, related_name="+", null=True, blank=True
    )

    admitted_at = models.DateTimeField()
    cooldown_until = models.DateTimeField(null=True, blank=True)
    """When its harness line may submit again; null where the policy has no cooldown."""
    cooldown_ended_at = models.DateTimeField(null=True, blank=True)
    """When the cooldown was lifted early, by the table of who pays."""
    check_lease_until = models.DateTimeField(null=True, blank=True)
    """Until when one worker has the package in hand."""
    check_lease = models.UUIDField(null=True, blank=True)
    rerun_since = models.DateTimeField(null=True, blank=True)
    """When runs that the platform lost were first repeated."""
    rerun_count = models.PositiveSmallIntegerField(default=0)
    next_rerun_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    objects = WholeSubmissions()
    of_any_scope: ClassVar[models.Manager[Submission]] = models.Manager()

    class Meta:
        indexes = [
            models.Index(fields=["organisation", "-id"], name="submission_of_organisation"),
            models.Index(fields=["task_set", "package_digest"], name="submission_by_package"),
            models.Index(fields=["task_set", "content_digest"], name="submission_by_content"),
            models.Index(fields=["state"], name="submission_open", condition=Q(ended_at__isnull=True)),
        ]
        constraints = [
            models.CheckConstraint(
                condition=Q(state="paused", paused_from__in=("queued", "running"))
                | (~Q(state="paused") & Q(paused_from="")),
                name="paused_submission_knows_where_from",
            ),
            models.CheckConstraint(
                condition=Q(
                    state__in=(
                        "complete",
                        "rejected",
                        "preflight_passed",
                        "preflight_failed",
                        "cancelled",
                        "incomplete",
                        "voided",
                    ),
                    ended_at__isnull=False,
                )
                | Q(
                    state__in=(
                        "created",
                        "checking",
                        "preflight",
                        "queued",
                        "running",
                        "paused",
                        "grading",
                        "awaiting_choice",
                        "held",
                    ),
                    ended_at__isnull=True,
                ),
                name="submission_state_known_and_end_dated",
            ),
            models.CheckConstraint(
                condition=~Q(state__in=("grading", "held", "complete", "incomplete"))
                | Q(held_out_run__isnull=False),
                name="graded_submission_has_run",
            ),
            models.CheckConstraint(
                condition=~Q(
                    state__in=(
                        "paused",
                        "awaiting_choice",
                        "held",
                        "complete",
                        "rejected",
                        "preflight_passed",
                        "preflight_failed",
                        "cancelled",
                        "incomplete",
                        "voided",
                    )
                )
                | ~Q(reason_code=""),
                name="halted_submission_says_why",
            ),
            models.CheckConstraint(
                condition=(Q(scope="full") & ~Q(state="preflight_passed"))
                | Q(
                    scope="preflight",
                    state__in=sorted(PREFLIGHT_STATES),
                    canary_run__isnull=True,
                    held_out_run__isnull=True,
                    cooldown_until__isnull=True,
                    publication_consent=False,
                    runs_per_task=1,
                ),
                name="preflight_alone_goes_no_further",
            ),
            models.UniqueConstraint(
                fields=["upload"], condition=Q(scope="full"), name="upload_used_by_one_submission"
            ),
        ]

    @property
    def is_preflight(self) -> bool:
        """Whether it is a preflight on its own."""
        return self.scope == self.Scope.PREFLIGHT

    @property
    def address(self) -> str:
        """Where the API shows it."""
        return f"/api/v1/{'preflights' if self.is_preflight else 'submissions'}/{self.pk}"


class SubmissionTransition(models.Model):
    """One move, as its page and API show it. Coarse states only: nothing here is per task."""

    id = models.BigAutoField(primary_key=True)
    submission = models.ForeignKey(Submission, on_delete=models.PROTECT, related_name="transitions")
    state = models.CharField(max_length=20, choices=Submission.State.choices)
    at = models.DateTimeField()
    cause = models.CharField(max_length=40)
    actor_kind = models.CharField(max_length=16)
    """person, token, worker or system."""

    class Meta:
        indexes = [models.Index(fields=["submission", "id"], name="transition_of_submission")]


class IdempotencyRecord(models.Model):
    """The answer once given to a request under a key; kept 30 days per organisation and route."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    organisation = models.ForeignKey(Organisation, on_delete=models.CASCADE, related_name="+")
    route = models.CharField(max_length=40)
    key = models.CharField(max_length=255)
    body_digest = models.CharField(max_length=64)
    status = models.PositiveSmallIntegerField(null=True)
    """HTTP status of the answer; null only inside the transaction that is giving it."""
    answer = models.JSONField(default=dict)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["organisation", "route", "key"], name="idempotency_key_once"),
        ]
        indexes = [models.Index(fields=["created_at"], name="idempotency_by_age")]
