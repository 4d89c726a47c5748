"""Task-set versions and their task revisions. Once a version is frozen the database refuses every change to it."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from config.ids import new_id


class Domain(models.TextChoices):
    GENERAL = "general", _("General")
    FINANCE = "finance", _("Finance")
    SUPPLY_CHAIN = "supply_chain", _("Supply chain")
    MANUFACTURING = "manufacturing", _("Manufacturing")


ENTERPRISE = (Domain.FINANCE, Domain.SUPPLY_CHAIN, Domain.MANUFACTURING)


class Group(models.TextChoices):
    PUBLIC = "public", _("public group")
    HELD_OUT = "held_out", _("held-out group")
    RESERVE = "reserve", _("reserve")
    DEV = "dev", _("practice")


class TaskSetVersion(models.Model):
    class State(models.TextChoices):
        DRAFT = "draft", _("draft")
        FROZEN = "frozen", _("frozen")

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    label = models.CharField(max_length=32, unique=True)
    state = models.CharField(max_length=16, choices=State.choices, default=State.DRAFT)
    is_synthetic = models.BooleanField(default=False)
    digest = models.CharField(max_length=64, blank=True)
    """SHA-256 over the sorted task digests, set when frozen."""
    composition = models.JSONField(default=dict)
    """By domain: number of tasks in each group and sizes of the held-out families. Set when frozen; public."""
    admission = models.JSONField(default=dict)
    """What admission found: the digest of the content that passed, the number of tasks, the evaluator version."""
    protocol_version = models.CharField(max_length=16, default="1")
    evaluator_version = models.CharField(max_length=16, default="1")
    opened_at = models.DateTimeField(null=True, blank=True)
    closed_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.label

    @property
    def is_frozen(self) -> bool:
        return self.state == self.State.FROZEN


class AssetCommitment(models.Model):
    """What a frozen version consists of, under one salted root, which the event of freezing names.

    The salts come from `wrapped_secret`, wrapped under the key of the sealed workers; see benchmark.commitments.
    """

    version = models.OneToOneField(
        TaskSetVersion, primary_key=True, on_delete=models.PROTECT, related_name="asset_commitment"
    )
    root = models.CharField(max_length=64)
    tasks = models.PositiveIntegerField()
    wrapped_secret = models.BinaryField()
    made_at = models.DateTimeField()


class AssetPack(models.Model):
    """Task assets travel in packs: one sealed object holds those of many tasks, so a worker fetches few objects."""

    class Kind(models.TextChoices):
        ENVIRONMENT = "environment", "environment"
        GRADING = "grading", "grading"
        GOLD = "gold", "gold"

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    version = models.ForeignKey(TaskSetVersion, on_delete=models.PROTECT, related_name="packs")
    kind = models.CharField(max_length=16, choices=Kind.choices)
    object_key = models.CharField(max_length=200)
    sha256 = models.CharField(max_length=64)
    """Of the plain pack."""
    size = models.BigIntegerField()
    wrapped_key = models.BinaryField()


class TaskRevision(models.Model):
    """One task of a version. Only its group and domain may be read by processes that serve vendors."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    version = models.ForeignKey(TaskSetVersion, on_delete=models.PROTECT, related_name="tasks")
    slug = models.CharField(max_length=80)
    family = models.CharField(max_length=80)
    domain = models.CharField(max_length=16, choices=Domain.choices)
    category = models.CharField(max_length=40)
    operation = models.CharField(max_length=16)
    difficulty = models.CharField(max_length=16)
    group = models.CharField(max_length=16, choices=Group.choices)
    turns = models.PositiveSmallIntegerField()
    budget_seconds = models.PositiveIntegerField()
    budget_steps = models.PositiveIntegerField()
    budget_tokens = models.PositiveIntegerField()
    metadata = models.JSONField(default=dict)
    digest_instruction = models.CharField(max_length=64)
    digest_environment = models.CharField(max_length=64)
    digest_grading = models.CharField(max_length=64)
    digest_gold = models.CharField(max_length=64)
    digest = models.CharField(max_length=64)
    environment_pack = models.ForeignKey(AssetPack, on_delete=models.PROTECT, related_name="+")
    environment_offset = models.BigIntegerField()
    environment_size = models.BigIntegerField()
    grading_pack = models.ForeignKey(AssetPack, on_delete=models.PROTECT, related_name="+")
    grading_offset = models.BigIntegerField()
    grading_size = models.BigIntegerField()
    gold_pack = models.ForeignKey(AssetPack, on_delete=models.PROTECT, related_name="+")
    gold_offset = models.BigIntegerField()
    gold_size = models.BigIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["version", "slug"], name="task_once_per_version")]
        indexes = [models.Index(fields=["version", "group", "domain"], name="task_by_group")]


class PublicTask(models.Model):
    """What everybody may know of a public task; the only task table that vendor-facing processes read whole."""

    task = models.OneToOneField(
        TaskRevision, primary_key=True, on_delete=models.PROTECT, related_name="public"
    )
    version = models.ForeignKey(TaskSetVersion, on_delete=models.PROTECT, related_name="public_tasks")
    slug = models.CharField(max_length=80)
    domain = models.CharField(max_length=16, choices=Domain.choices)
    category = models.CharField(max_length=40)
    operation = models.CharField(max_length=16)
    difficulty = models.CharField(max_length=16)
    title_zh = models.CharField(max_length=200)
    title_en = models.CharField(max_length=200)
    instruction = models.TextField()
