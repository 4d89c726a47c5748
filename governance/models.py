"""The release policy of a version, sealed statistics of a submission, and the few numbers that leave."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from accounts.models import Lineage, Organisation
from benchmark.models import Domain, TaskSetVersion
from config.ids import new_id
from governance.confirmation.models import (  # noqa: F401 (models of this app)
    ConfirmationResult,
    ConfirmationRun,
    ReleaseDate,
)
from governance.correcting.models import (  # noqa: F401 (models of this app)
    Correction,
    RegradedRun,
    Regrading,
)
from submissions.models import Submission


class ReleasePolicy(models.Model):
    """How results of one task-set version are shown, from `valid_from` on. Rows are never changed."""

    class Profile(models.TextChoices):
        OFFICIAL = "official", _("official policy")
        DEMO = "demo", _("demo policy")

    class Rule(models.TextChoices):
        GRID = "grid", _("each submission shows its own value on the grid")
        GROWING_LADDER = (
            "growing-ladder",
            _("a value is shown only if it beats the best one by more than chance explains"),
        )

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    task_set = models.ForeignKey(TaskSetVersion, on_delete=models.PROTECT, related_name="release_policies")
    profile = models.CharField(max_length=16, choices=Profile.choices)
    rule = models.CharField(max_length=16, choices=Rule.choices, default=Rule.GRID)
    grid_points = models.PositiveSmallIntegerField(default=1)
    rho = models.DecimalField(max_digits=4, decimal_places=3)
    """Correlation of tasks within a family that the interval assumes."""
    tick_seconds = models.PositiveIntegerField()
    fewest_changed = models.PositiveSmallIntegerField(null=True)
    """Tasks of a domain that must have changed for a value of its own; null in rows from before there was a gate."""
    budget_millibits = models.PositiveIntegerField(null=True)
    """What one lineage is told of the version over its life, in thousandths of a bit; null where nothing counts it."""
    confirmation_millibits = models.PositiveIntegerField(null=True)
    """What one confirmation run tells with its side figures."""
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
            models.CheckConstraint(
                condition=models.Q(
                    fewest_changed=None, budget_millibits=None, confirmation_millibits=None, rule="grid"
                )
                | models.Q(
                    fewest_changed__gte=1,
                    budget_millibits__gte=1,
                    confirmation_millibits__gte=1,
                    rule__in=("grid", "growing-ladder"),
                ),
                name="release_policy_gate_and_budget",
            ),
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

    class Reason(models.TextChoices):
        NO_VALID_RUN = (
            "no_valid_run",
            _("No run of this domain is valid, or runs of too few of its tasks are"),
        )
        REPEAT = "repeat", _("Answers every task as an earlier submission did")
        NEAR_DUPLICATE = (
            "near_duplicate",
            _("Behaves like an earlier version on all but a few tasks; its own value is not reported"),
        )
        LADDER = "ladder", _("Does not beat the best value so far by more than chance explains")
        BUDGET = "budget", _("The information budget of this version is spent")

    release = models.ForeignKey(Release, on_delete=models.PROTECT, related_name="domains")
    domain = models.CharField(max_length=16, choices=Domain.choices)
    status = models.CharField(max_length=16, choices=Status.choices)
    reason = models.CharField(max_length=16, choices=Reason.choices, blank=True, db_default="")
    """Why there is no value; empty where there is one, and in rows from before reasons were kept."""
    earlier = models.ForeignKey(Submission, on_delete=models.PROTECT, related_name="+", null=True)
    """The submission of the same lineage whose value stands in the way of this one."""
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
            models.CheckConstraint(
                condition=models.Q(status="reported", reason="", earlier=None)
                | models.Q(status="not_reportable", reason__in=("", "no_valid_run", "budget"), earlier=None)
                | models.Q(
                    status="not_reportable",
                    reason__in=("repeat", "near_duplicate", "ladder"),
                    earlier__isnull=False,
                ),
                name="domain_reason_only_where_not_reported",
            ),
        ]


class LeakAccount(models.Model):
    """Held while a lineage's charges are added up, so that two releases at once cannot both spend what is left."""

    task_set = models.ForeignKey(TaskSetVersion, on_delete=models.PROTECT, related_name="+")
    lineage = models.ForeignKey(Lineage, on_delete=models.PROTECT, related_name="+")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["task_set", "lineage"], name="leak_account_once"),
        ]


class LeakCharge(models.Model):
    """What one answer could tell at most, charged before it was shown. Never changed.

    It is the organisation's: whose lineage is linked with another's brings it along.
    """

    class Kind(models.TextChoices):
        RESULT = "result", _("result")
        CONFIRMATION = "confirmation", _("confirmation run")
        CORRECTION = "correction", _("correction of an error of the platform")
        RECHECK = "recheck", _("agreement of a blind re-check")

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    task_set = models.ForeignKey(TaskSetVersion, on_delete=models.PROTECT, related_name="+")
    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    submission = models.ForeignKey(Submission, on_delete=models.PROTECT, related_name="leak_charges")
    kind = models.CharField(max_length=16, choices=Kind.choices)
    millibits = models.PositiveIntegerField()
    charged_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["submission", "kind"],
                condition=models.Q(kind__in=("result", "confirmation")),
                name="leak_charge_once",
            ),
        ]
