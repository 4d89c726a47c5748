"""The quota ledger: dated policy rows, one lock row per counter, one slot row per submission, admission stops."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from accounts.models import Lineage
from benchmark.models import TaskSetVersion
from config.ids import new_id
from submissions.models.registry import Harness


class QuotaPolicy(models.Model):
    """One rule of one task-set version, in force from `valid_from` until a later row of the same rule."""

    class Rule(models.TextChoices):
        LINE = "line", _("submissions per harness")
        LINEAGE = "lineage", _("submissions per organisation with its linked accounts")
        ACCOUNT = "account", _("submissions per person")
        IN_FLIGHT = "in_flight", _("submissions in flight per harness")
        PREFLIGHT = "preflight", _("preflights per harness in seven days")
        COOLDOWN_SECONDS = "cooldown_seconds", _("seconds between admissions of one harness")
        RUNS_PER_TASK = "runs_per_task", _("runs per held-out task")

    class Profile(models.TextChoices):
        OFFICIAL = "official", _("official policy")
        DEMO = "demo", _("demo policy")

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    task_set = models.ForeignKey(TaskSetVersion, on_delete=models.PROTECT, related_name="quota_policies")
    profile = models.CharField(max_length=16, choices=Profile.choices)
    rule = models.CharField(max_length=24, choices=Rule.choices)
    value = models.PositiveIntegerField()
    valid_from = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["task_set", "rule", "valid_from"], name="quota_policy_once_per_instant"
            ),
            models.CheckConstraint(
                condition=Q(
                    rule__in=("line", "lineage", "account", "in_flight", "preflight", "cooldown_seconds")
                )
                | Q(rule="runs_per_task", value__gte=1),
                name="quota_policy_known_rule",
            ),
        ]


class QuotaCounter(models.Model):
    """What an admission locks. It holds no number: the numbers are the slot rows, counted under this lock."""

    class Kind(models.TextChoices):
        LINE = "line", "line"
        LINEAGE = "lineage", "lineage"
        ACCOUNT = "account", "account"

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    task_set = models.ForeignKey(TaskSetVersion, on_delete=models.PROTECT, related_name="+")
    kind = models.CharField(max_length=8, choices=Kind.choices)
    subject = models.UUIDField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["task_set", "kind", "subject"], name="quota_counter_once"),
        ]


class Slot(models.Model):
    """One use by one submission: reserved, then consumed or refunded, with cause and actor.

    One that takes an offer of a re-run is outside the quota: no counter counts it.
    """

    class State(models.TextChoices):
        RESERVED = "reserved", _("reserved")
        CONSUMED = "consumed", _("used")
        REFUNDED = "refunded", _("returned")

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    submission = models.OneToOneField("submissions.Submission", on_delete=models.PROTECT, related_name="slot")
    task_set = models.ForeignKey(TaskSetVersion, on_delete=models.PROTECT, related_name="+")
    line = models.ForeignKey(Harness, on_delete=models.PROTECT, related_name="slots")
    lineage = models.ForeignKey(Lineage, on_delete=models.PROTECT, related_name="slots")
    account = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="slots", null=True, blank=True
    )
    """Null where a credential that is no person submitted."""
    offer = models.ForeignKey(
        "submissions.RerunOffer", on_delete=models.PROTECT, related_name="slots", null=True, blank=True
    )
    """The offer of a re-run that it takes, where it is outside the quota."""
    state = models.CharField(max_length=16, choices=State.choices, default=State.RESERVED)
    cause = models.CharField(max_length=40)
    """Code of what brought it into this state."""
    actor = models.CharField(max_length=100)
    """Kind and pseudonym of who did."""
    reason = models.TextField(blank=True)
    """Staff's words, where staff returned it."""
    reserved_at = models.DateTimeField()
    consumed_at = models.DateTimeField(null=True, blank=True)
    refunded_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [
            models.Index(fields=["task_set", "line"], name="slot_of_line"),
            models.Index(fields=["task_set", "lineage"], name="slot_of_lineage"),
            models.Index(fields=["task_set", "account"], name="slot_of_account"),
        ]
        constraints = [
            models.CheckConstraint(
                condition=Q(state="reserved", consumed_at__isnull=True, refunded_at__isnull=True)
                | Q(state="consumed", consumed_at__isnull=False, refunded_at__isnull=True)
                | Q(state="refunded", refunded_at__isnull=False),
                name="slot_instants_match_state",
            ),
            models.UniqueConstraint(
                fields=["offer"], condition=~Q(state="refunded"), name="slot_takes_an_offer_alone"
            ),
        ]


class AdmissionStop(models.Model):
    """Nobody of this lineage (or nobody at all, where it is null) is admitted to the version while it stands."""

    class Cause(models.TextChoices):
        LEAK_BUDGET_SPENT = "leak_budget_spent", _("the information budget of this version is spent")
        GOVERNANCE = "governance", _("stopped by governance")

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    task_set = models.ForeignKey(TaskSetVersion, on_delete=models.PROTECT, related_name="admission_stops")
    lineage = models.ForeignKey(
        Lineage, on_delete=models.PROTECT, related_name="admission_stops", null=True, blank=True
    )
    cause = models.CharField(max_length=24, choices=Cause.choices)
    since = models.DateTimeField()
    until = models.DateTimeField(null=True, blank=True)
    """The date of the next version, where one is set."""
    lifted_at = models.DateTimeField(null=True, blank=True)
