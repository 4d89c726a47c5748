"""The release policy of a version, sealed statistics of a submission, and the few numbers that leave."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from benchmark.models import Domain, TaskSetVersion
from config.ids import new_id
from submissions.models import Submission


class ReleasePolicy(models.Model):
    """How results of one task-set version are shown, from `valid_from` on. Rows are never changed."""

    class Profile(models.TextChoices):
        OFFICIAL = "official", _("official policy")
        DEMO = "demo", _("demo policy")

    class Rule(models.TextChoices):
        GRID = "grid", _("each submission shows its own value on the grid")

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    task_set = models.ForeignKey(TaskSetVersion, on_delete=models.PROTECT, related_name="release_policies")
    profile = models.CharField(max_length=16, choices=Profile.choices)
    rule = models.CharField(max_length=16, choices=Rule.choices, default=Rule.GRID)
    grid_points = models.PositiveSmallIntegerField(default=1)
    rho = models.DecimalField(max_digits=4, decimal_places=3)
    """Correlation of tasks within a family that the interval assumes."""
    tick_seconds = models.PositiveIntegerField()
    half_widths = models.JSONField()
    """By domain: h for the shown values 0 to 100, in points."""
    valid_from = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["task_set", "valid_from"], name="release_policy_once_per_instant"
            ),
            models.CheckConstraint(condition=models.Q(tick_seconds__gte=1), name="release_policy_ticks"),
            models.CheckConstraint(condition=models.Q(grid_points=1), name="release_policy_one_point_grid"),
        ]


class SealedAggregate(models.Model):
    """Everything computed of one submission in one domain. Never read where vendors are served."""

    submission = models.ForeignKey(Submission, on_delete=models.PROTECT, related_name="sealed_aggregates")
    domain = models.CharField(max_length=16, choices=Domain.choices)
    task_score = models.DecimalField(max_digits=12, decimal_places=10, null=True)
    success = models.DecimalField(max_digits=12, decimal_places=10, null=True)
    reliability = models.JSONField(default=dict)
    failures = models.JSONField(default=dict)
    tasks = models.PositiveIntegerField()
    valid_tasks = models.PositiveIntegerField()
    runs = models.PositiveIntegerField()
    valid_runs = models.PositiveIntegerField()
    mean_seconds = models.FloatField(null=True)
    mean_tokens = models.FloatField(null=True)
    computed_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["submission", "domain"], name="sealed_aggregate_once"),
        ]


class RunCommitment(models.Model):
    """All runs behind a release under one salted root, written before it; the event of the release names the root.

    The salts come from `wrapped_secret`, wrapped under the key of the sealed workers; see governance.commitments.
    """

    submission = models.OneToOneField(
        Submission, primary_key=True, on_delete=models.PROTECT, related_name="run_commitment"
    )
    root = models.CharField(max_length=64)
    runs = models.PositiveIntegerField()
    wrapped_secret = models.BinaryField()
    made_at = models.DateTimeField()


class Release(models.Model):
    """What was shown of one submission: all domains at once, on a tick, and never again differently."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    submission = models.OneToOneField(Submission, on_delete=models.PROTECT, related_name="release")
    policy = models.ForeignKey(ReleasePolicy, on_delete=models.PROTECT, related_name="+")
    enterprise_value = models.PositiveSmallIntegerField(null=True)
    enterprise_h = models.PositiveSmallIntegerField(null=True)
    coverage = models.CharField(max_length=8)
    """Valid runs out of those prescribed, a decimal with two places, rounded down."""
    is_complete = models.BooleanField()
    versions = models.JSONField(default=dict)
    released_at = models.DateTimeField()


class DomainAggregate(models.Model):
    """What leaves: one shown value with its half width. There is no per-task field to leak."""

    class Status(models.TextChoices):
        REPORTED = "reported", _("reported")
        NOT_REPORTABLE = "not_reportable", _("not reportable")

    release = models.ForeignKey(Release, on_delete=models.PROTECT, related_name="domains")
    domain = models.CharField(max_length=16, choices=Domain.choices)
    status = models.CharField(max_length=16, choices=Status.choices)
    value = models.PositiveSmallIntegerField(null=True)
    half_width = models.PositiveSmallIntegerField(null=True)
    low = models.PositiveSmallIntegerField(null=True)
    """Incomplete results only: the value if every missing run had scored 0 …"""
    high = models.PositiveSmallIntegerField(null=True)
    """… and if every one had scored 1."""

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["release", "domain"], name="domain_aggregate_once"),
            models.CheckConstraint(
                condition=models.Q(status="reported", value__lte=100, half_width__gte=1)
                | models.Q(status="not_reportable", value__isnull=True, half_width__isnull=True),
                name="domain_value_only_where_reported",
            ),
        ]
