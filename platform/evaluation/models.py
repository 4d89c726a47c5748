"""Evaluation runs, episodes, attempts and results. The rows are the truth; messages only say that there may be work."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from benchmark.models import Domain, TaskRevision, TaskSetVersion
from config.ids import new_id, opaque_id
from evaluation.alerts.models import FleetAlert  # noqa: F401 (models of this app)
from evaluation.calls.models import (  # noqa: F401 (models of this app)
    ModelCall,
    RunModel,
    UpstreamDoubt,
    UpstreamStop,
    UpstreamUse,
)
from evaluation.fleet.models import EpisodeQuarantine, FleetOrder, Pause  # noqa: F401 (models of this app)
from evaluation.hosts.models import HostSpeed  # noqa: F401 (a model of this app)
from evaluation.retention.models import ArtefactPurge, PurgedArtefact  # noqa: F401 (models of this app)
from evaluation.upstreams.models import ModelUpstream, UpstreamCredential, UpstreamTrial  # noqa: F401


class Ending(models.TextChoices):
    FINISHED = "finished", _("finished")
    CRASHED = "crashed", _("crashed")
    BUDGET_EXHAUSTED = "budget_exhausted", _("budget exhausted")
    LIMIT_EXCEEDED = "limit_exceeded", _("limit exceeded")
    INFRASTRUCTURE_FAULT = "infrastructure_fault", _("infrastructure fault")
    CANCELLED = "cancelled", _("cancelled")
    """Of an attempt whose run was cancelled; no result has it."""


class StoredPackage(models.Model):
    """A checked package, encrypted under its upload's key, which is wrapped under the submission's key.

    Only workers read this table; destroying `wrapped_submission_key` makes package and artefacts unreadable.
    """

    class Kind(models.TextChoices):
        BUNDLE = "bundle", _("bundle")
        IMAGE = "image", _("image")

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    kind = models.CharField(max_length=8, choices=Kind.choices, default=Kind.BUNDLE, db_default=Kind.BUNDLE)
    digest = models.CharField(max_length=64)
    tree_digest = models.CharField(max_length=64, blank=True, db_default="")
    """Of an image's finished tree, as intake saw it; workers run no other."""
    object_key = models.CharField(max_length=200)
    size = models.BigIntegerField()
    unpacked_size = models.BigIntegerField()
    wrapped_upload_key = models.BinaryField()
    wrapped_submission_key = models.BinaryField()
    created_at = models.DateTimeField(auto_now_add=True)


class EvaluationRun(models.Model):
    """One package on one group of one task-set version. Whoever asked for it points here, never the reverse."""

    class Kind(models.TextChoices):
        PREFLIGHT = "preflight", _("preflight")
        CANARY = "canary", _("canary")
        HELD_OUT = "held_out", _("held-out group")

    class State(models.TextChoices):
        EXECUTING = "executing", _("executing")
        GRADING = "grading", _("grading")
        ENDED = "ended", _("ended")
        CANCELLED = "cancelled", _("cancelled")

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    kind = models.CharField(max_length=16, choices=Kind.choices)
    state = models.CharField(max_length=16, choices=State.choices, default=State.EXECUTING)
    version = models.ForeignKey(TaskSetVersion, on_delete=models.PROTECT, related_name="+")
    package = models.ForeignKey(StoredPackage, on_delete=models.PROTECT, related_name="runs")
    command = models.JSONField()
    limit_seconds = models.PositiveIntegerField(null=True, blank=True)
    """The harness's own lower limit, in seconds, where its manifest states one."""
    runs_per_task = models.PositiveSmallIntegerField()
    total = models.PositiveIntegerField()
    quarter = models.PositiveSmallIntegerField(default=0)
    """Coarse progress: 0, 25, 50 or 75 percent of the whole; nothing finer is stored where vendors' pages read."""
    quarter_at = models.DateTimeField(null=True, blank=True)
    """When `quarter` was last looked at. It changes on ticks only: how long single tasks take must not show."""
    missing = models.PositiveIntegerField(default=0)
    """Episodes without a valid result when the run ended."""
    isolation = models.JSONField(default=list, db_default=[])
    """Isolation grades of all hosts that ran it, each once, known when it has ended: never which host ran what."""
    served_otherwise = models.JSONField(default=list, db_default=[])
    """Roles whose answers named another model than the pinned one, set at the end. For staff alone."""
    speed = models.JSONField(default=list, db_default=[])
    """Speed classes of the same hosts."""
    lineage_id = models.UUIDField()
    line_id = models.UUIDField()
    priority = models.SmallIntegerField(default=0)
    """Breaks ties between runs of equal claim; it never lets one run starve another."""
    created_at = models.DateTimeField(auto_now_add=True)
    executed_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [
            models.Index(fields=["state"], name="run_open", condition=Q(state__in=("executing", "grading")))
        ]


class RunSecret(models.Model):
    """The secret that seeds and shuffles a run's episodes; workers only."""

    run = models.OneToOneField(
        EvaluationRun, primary_key=True, on_delete=models.CASCADE, related_name="secret"
    )
    secret = models.BinaryField()


class RunShare(models.Model):
    """When a run was last served by an execute and by a grade worker: what fair sharing is decided by."""

    run = models.OneToOneField(
        EvaluationRun, primary_key=True, on_delete=models.CASCADE, related_name="share"
    )
    served_at = models.DateTimeField(null=True)
    graded_at = models.DateTimeField(null=True)


class Episode(models.Model):
    class State(models.TextChoices):
        READY = "ready", "ready"
        LEASED = "leased", "leased"
        EXECUTED = "executed", "executed"
        GRADING = "grading", "grading"
        GRADED = "graded", "graded"
        UNAVAILABLE = "unavailable", "unavailable"
        QUARANTINED = "quarantined", "quarantined"
        CANCELLED = "cancelled", "cancelled"

    id = models.BigAutoField(primary_key=True)
    run = models.ForeignKey(EvaluationRun, on_delete=models.CASCADE, related_name="episodes")
    task = models.ForeignKey(TaskRevision, on_delete=models.PROTECT, related_name="+")
    run_index = models.PositiveSmallIntegerField()
    position = models.PositiveIntegerField()
    """Place in the run's secret random order."""
    state = models.CharField(max_length=16, choices=State.choices, default=State.READY)
    fence = models.PositiveIntegerField(default=0)
    """Grows with each claim; a writer with an older one changes nothing."""
    worker = models.CharField(max_length=64, blank=True)
    kernel = models.CharField(max_length=36, blank=True)
    """Boot id of the kernel that runs it, while it is leased."""
    lease_until = models.DateTimeField(null=True, blank=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    grading_attempts = models.PositiveSmallIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "task", "run_index"], name="episode_once"),
        ]
        indexes = [
            models.Index(
                fields=["run", "attempts", "position"], name="episode_ready", condition=Q(state="ready")
            ),
            models.Index(fields=["run", "position"], name="episode_executed", condition=Q(state="executed")),
            models.Index(
                fields=["lease_until"], name="episode_leased", condition=Q(state__in=("leased", "grading"))
            ),
        ]


class Attempt(models.Model):
    """One try at an episode, under an opaque id of its own."""

    id = models.UUIDField(primary_key=True, default=opaque_id, editable=False)
    episode = models.ForeignKey(Episode, on_delete=models.CASCADE, related_name="tries")
    number = models.PositiveSmallIntegerField()
    fence = models.PositiveIntegerField()
    worker = models.CharField(max_length=64)
    started_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)
    ending = models.CharField(max_length=24, choices=Ending.choices, blank=True)
    cause = models.CharField(max_length=64, blank=True)
    """Which budget, limit or fault; for staff."""
    exit_code = models.IntegerField(null=True, blank=True)
    seconds = models.FloatField(null=True, blank=True)
    isolation = models.CharField(max_length=64, blank=True)
    host = models.CharField(max_length=64, blank=True, db_default="")
    """Identity of the host it ran on; for staff."""
    speed_class = models.CharField(max_length=24, blank=True, db_default="")
    signals = models.JSONField(default=dict, db_default={})
    """What the host counted, by name, where it is not 0 (`sandbox.spec.SIGNALS`); for staff."""
    has_output = models.BooleanField(default=False)
    """False only where a crash left neither reply nor artefact."""
    artefact_key = models.CharField(max_length=200, blank=True)
    artefact_sha256 = models.CharField(max_length=64, blank=True)
    answer_sha256 = models.CharField(max_length=64, blank=True, db_default="")
    """Of what the run changed and said (`artefacts.answer_digest`); empty before it was taken."""
    steps = models.PositiveIntegerField(null=True, blank=True)
    """Model calls of the harness; null where it could make none."""
    tokens = models.BigIntegerField(null=True, blank=True)
    """All that its calls used, cached ones included; null where a count is missing or it could make no call."""
    tokens_complete = models.BooleanField(db_default=True, default=True)
    asked_unlisted = models.BooleanField(db_default=False, default=False)
    """Whether the harness asked for a model that its HarnessCard does not list."""
    refused_calls = models.PositiveIntegerField(db_default=0, default=0)
    """Requests that the gateway refused, for staff."""

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["episode", "number"], name="attempt_number_once"),
            models.UniqueConstraint(fields=["episode", "fence"], name="attempt_fence_once"),
        ]
        indexes = [
            models.Index(fields=["artefact_key"], name="attempt_by_artefact", condition=~Q(artefact_key="")),
        ]


class Result(models.Model):
    """What grading found in one run of one task."""

    score = models.DecimalField(max_digits=10, decimal_places=9)
    success = models.BooleanField()
    failure_type = models.CharField(max_length=40, blank=True)
    ending = models.CharField(max_length=24, choices=Ending.choices)
    items = models.JSONField(default=list)
    seconds = models.FloatField()
    tokens = models.BigIntegerField(null=True, blank=True)
    grader_version = models.CharField(max_length=64)
    graded_at = models.DateTimeField()

    class Meta:
        abstract = True


class TaskResult(Result):
    """A held-out result. Sealed: only evaluation and governance workers and the staff console read it."""

    episode = models.OneToOneField(Episode, on_delete=models.PROTECT, related_name="result")
    attempt = models.OneToOneField(Attempt, on_delete=models.PROTECT, related_name="result")


class PublicTaskResult(Result):
    """A result on a public task, with everything its vendor may see."""

    run = models.ForeignKey(EvaluationRun, on_delete=models.CASCADE, related_name="public_results")
    task = models.ForeignKey(TaskRevision, on_delete=models.PROTECT, related_name="+")
    task_label = models.CharField(max_length=80)
    domain = models.CharField(max_length=16, choices=Domain.choices)
    run_index = models.PositiveSmallIntegerField()
    exit_code = models.IntegerField(null=True, blank=True)
    has_output = models.BooleanField()
    stdout = models.TextField(blank=True)
    stderr = models.TextField(blank=True)
    reply = models.TextField(blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "task", "run_index"], name="public_result_once"),
        ]


class WorkerReport(models.Model):
    """What a worker proved about its isolation when it started, and its last sign of life."""

    worker = models.CharField(primary_key=True, max_length=64)
    queue = models.CharField(max_length=16)
    host = models.CharField(max_length=64, blank=True)
    grade = models.CharField(max_length=64)
    passed = models.BooleanField()
    report = models.JSONField(default=dict)
    speed_class = models.CharField(max_length=24, blank=True, db_default="")
    refusals = models.JSONField(default=list, db_default=[])
    """Codes of why it takes no held-out work (`hosts.policies.Refusal`); empty where it does."""
    started_at = models.DateTimeField()
    seen_at = models.DateTimeField()
