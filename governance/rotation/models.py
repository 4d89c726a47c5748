"""Difficulty profiles, the rotation queue, plans with what leaves and what comes, and what became of a version.

No column of a task is ever read where vendors are served; of all this they see `Succession`.
"""

from __future__ import annotations

from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from accounts.duties.models import person_column
from benchmark.models import Domain, TaskRevision, TaskSetVersion
from config.ids import new_id
from governance.rotation.policies import ENTRY_ENDS, OWNER, PLAN_ENDS


class Profiling(models.Model):
    """Baselines run on all held-out, public and reserve tasks of a version. Never changed."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    task_set = models.ForeignKey(TaskSetVersion, on_delete=models.PROTECT, related_name="+")
    path = models.CharField(max_length=16)
    """How the runs came about: `in_process`, outside a sandbox, for harnesses of the platform's own people."""
    runs = models.PositiveSmallIntegerField()
    seed = models.CharField(max_length=80)
    baselines = models.JSONField()
    """By baseline: SHA-256 of its files and its share of wrong values."""
    bank_digest = models.CharField(max_length=64)
    """The version's content digest at that time."""
    evaluator_version = models.CharField(max_length=16)
    tasks = models.PositiveIntegerField()
    digest = models.CharField(max_length=64)
    """SHA-256 over every score."""
    made_at = models.DateTimeField()


class TaskProfile(models.Model):
    """What the baselines scored on one task."""

    profiling = models.ForeignKey(Profiling, on_delete=models.PROTECT, related_name="profiles")
    task = models.ForeignKey(TaskRevision, on_delete=models.PROTECT, related_name="+")
    scores = models.JSONField()
    """By baseline, a score for each run, in thousandths."""

    class Meta:
        constraints = [models.UniqueConstraint(fields=["profiling", "task"], name="profile_once_a_task")]


class RotationEntry(models.Model):
    """A held-out task in the queue. `state` moves by `policies`; each has a deadline and an owner."""

    class Cause(models.TextChoices):
        GATE_BITS = "gate_bits", _("a bit or more by changes that metadata does not explain")
        ALL_BITS = "all_bits", _("three bits or more by all causes")
        CONTENT = "content", _("read by endpoints of three organisations or more")
        DRIFT = "drift", _("its pass rate over all vendors drifted")
        LEAK = "leak", _("a leak was reported")
        HAND = "hand", _("by hand")

    class State(models.TextChoices):
        QUEUED = "queued", pgettext_lazy("rotation", "queued")
        PROPOSED = "proposed", pgettext_lazy("rotation", "decision proposed")
        WATCHING = "watching", pgettext_lazy("rotation", "watched further")
        ROTATING = "rotating", pgettext_lazy("rotation", "leaves with the next version")
        RETIRING = "retiring", pgettext_lazy("rotation", "retires with the next version")
        REPLACED = "replaced", pgettext_lazy("rotation", "replaced")
        RETIRED = "retired", pgettext_lazy("rotation", "retired")
        DISMISSED = "dismissed", pgettext_lazy("rotation", "false alarm")

    class Verdict(models.TextChoices):
        KEEP_WATCHING = "keep_watching", _("keep watching")
        ROTATE = "rotate", _("rotate")
        RETIRE = "retire", _("retire")
        FALSE_ALARM = "false_alarm", _("false alarm")

    class Ground(models.TextChoices):
        CONTAMINATED = "contaminated", pgettext_lazy("retired", "contaminated")
        DISTORTED = "distorted", pgettext_lazy("retired", "distorted")
        OUTDATED = "outdated", pgettext_lazy("retired", "outdated")

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    task_set = models.ForeignKey(TaskSetVersion, on_delete=models.PROTECT, related_name="+")
    task = models.ForeignKey(TaskRevision, on_delete=models.PROTECT, related_name="+")
    cause = models.CharField(max_length=16, choices=Cause.choices)
    score = models.FloatField(default=0)
    """The queue score of the exposure record when it entered; higher leaves first."""
    evidence = models.JSONField(default=dict)
    """Figures that brought it here: bits, organisations, statistic. Nothing of what the task says."""
    reason = models.TextField(blank=True)
    state = models.CharField(max_length=12, choices=State.choices, default=State.QUEUED)
    state_since = models.DateTimeField()
    due_at = models.DateTimeField(null=True, blank=True)
    owner = models.CharField(max_length=24, default=OWNER, blank=True)
    """The duty that has to act; empty at the end."""
    opened_at = models.DateTimeField()
    verdict = models.CharField(max_length=16, choices=Verdict.choices, blank=True)
    ground = models.CharField(max_length=12, choices=Ground.choices, blank=True)
    """Of a retirement; the retirement list says it once the task is held out nowhere."""
    verdict_reason = models.TextField(blank=True)
    proposed_by = person_column(db_column="proposed_by", null=True, blank=True)
    decided_by = person_column(db_column="decided_by", null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["task"], condition=~Q(state__in=sorted(ENTRY_ENDS)), name="rotation_entry_open_once"
            ),
            models.CheckConstraint(
                condition=Q(state__in=sorted(ENTRY_ENDS), due_at=None, owner="")
                | (~Q(state__in=sorted(ENTRY_ENDS)) & Q(due_at__isnull=False) & ~Q(owner="")),
                name="rotation_entry_deadline_and_owner",
            ),
            models.CheckConstraint(
                condition=Q(decided_by=None) | ~Q(decided_by=F("proposed_by")),
                name="rotation_entry_two_people",
            ),
            models.CheckConstraint(
                condition=Q(verdict="retire", ground__in=("contaminated", "distorted", "outdated"))
                | (~Q(verdict="retire") & Q(ground="")),
                name="rotation_entry_retired_for",
            ),
            models.CheckConstraint(
                condition=Q(state="queued", proposed_by=None, decided_by=None)
                | Q(state="proposed", proposed_by__isnull=False, decided_by=None)
                | (
                    ~Q(state__in=("queued", "proposed"))
                    & Q(proposed_by__isnull=False, decided_by__isnull=False)
                ),
                name="rotation_entry_decided_by_two",
            ),
        ]


class RotationPlan(models.Model):
    """What leaves a version and what comes, as one batch that two people approve. `state` moves by `policies`."""

    class State(models.TextChoices):
        SEEDED = "seeded", pgettext_lazy("plan", "seed committed")
        DRAWN = "drawn", pgettext_lazy("plan", "drawn")
        PROPOSED = "proposed", pgettext_lazy("plan", "proposed")
        APPROVED = "approved", pgettext_lazy("plan", "approved")
        COMPOSED = "composed", pgettext_lazy("plan", "next version drafted")
        IN_FORCE = "in_force", pgettext_lazy("plan", "in force")
        DISCARDED = "discarded", pgettext_lazy("plan", "discarded")

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    former = models.ForeignKey(TaskSetVersion, on_delete=models.PROTECT, related_name="+")
    label = models.CharField(max_length=32)
    """Of the next version."""
    state = models.CharField(max_length=12, choices=State.choices, default=State.SEEDED)
    state_since = models.DateTimeField()
    due_at = models.DateTimeField(null=True, blank=True)
    owner = models.CharField(max_length=24, default=OWNER, blank=True)
    opened_at = models.DateTimeField()
    seed_digest = models.CharField(max_length=64)
    seed = models.CharField(max_length=200, blank=True)
    """Disclosed when it was drawn."""
    profiling = models.ForeignKey(
        Profiling, on_delete=models.PROTECT, related_name="+", null=True, blank=True
    )
    checks = models.JSONField(default=dict)
    """The acceptance checks by the profile: differences, area with interval, shifts, what failed."""
    lines_digest = models.CharField(max_length=64, blank=True)
    """SHA-256 over all lines; what the two people approve."""
    reason = models.TextField(blank=True)
    proposed_by = person_column(db_column="proposed_by", null=True, blank=True)
    approved_by = person_column(db_column="approved_by", null=True, blank=True)
    next = models.OneToOneField(
        TaskSetVersion, on_delete=models.PROTECT, related_name="+", null=True, blank=True
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["former"], condition=~Q(state="discarded"), name="rotation_plan_once_a_version"
            ),
            models.CheckConstraint(
                condition=Q(state__in=sorted(PLAN_ENDS), due_at=None, owner="")
                | (~Q(state__in=sorted(PLAN_ENDS)) & Q(due_at__isnull=False) & ~Q(owner="")),
                name="rotation_plan_deadline_and_owner",
            ),
            models.CheckConstraint(
                condition=Q(approved_by=None) | ~Q(approved_by=F("proposed_by")),
                name="rotation_plan_two_people",
            ),
            models.CheckConstraint(
                condition=~Q(state__in=("approved", "composed", "in_force"))
                | Q(proposed_by__isnull=False, approved_by__isnull=False),
                name="rotation_plan_approved_by_two",
            ),
        ]


class RotationLine(models.Model):
    """One task that leaves with a plan, and the one that comes for it. Never changed."""

    class Fate(models.TextChoices):
        BURNT = "burnt", _("burnt")
        PUBLIC = "public", _("becomes public")
        REGRESSION = "regression", _("kept as a regression case")

    plan = models.ForeignKey(RotationPlan, on_delete=models.PROTECT, related_name="lines")
    task = models.ForeignKey(TaskRevision, on_delete=models.PROTECT, related_name="+")
    domain = models.CharField(max_length=16, choices=Domain.choices)
    origin = models.CharField(max_length=8)
    entry = models.ForeignKey(
        RotationEntry, on_delete=models.PROTECT, related_name="+", null=True, blank=True
    )
    replacement = models.ForeignKey(TaskRevision, on_delete=models.PROTECT, related_name="+")
    distance = models.FloatField()
    """In standard deviations of the profile."""
    fate = models.CharField(max_length=12, choices=Fate.choices)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["plan", "task"], name="rotation_line_task_once"),
            models.UniqueConstraint(fields=["plan", "replacement"], name="rotation_line_replacement_once"),
        ]


class AnchorRun(models.Model):
    """A fixed harness on all held-out tasks of one of the two versions. Never changed; sealed."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    plan = models.ForeignKey(RotationPlan, on_delete=models.PROTECT, related_name="anchors")
    version = models.ForeignKey(TaskSetVersion, on_delete=models.PROTECT, related_name="+")
    anchor = models.CharField(max_length=80)
    number = models.PositiveSmallIntegerField()
    """1, and 2 for the repetition of one anchor on the former version."""
    digest = models.CharField(max_length=64)
    path = models.CharField(max_length=16)
    means = models.JSONField()
    """By domain: mean score in millionths."""
    made_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["plan", "version", "anchor", "number"], name="anchor_run_once"),
        ]


class Succession(models.Model):
    """What is public of the step from one version to the next. Never changed."""

    class Mark(models.TextChoices):
        ANNOTATED = "annotated", _("past results stand and are annotated")
        RECOMPUTED = "recomputed", _("past results were recomputed")

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    former = models.OneToOneField(TaskSetVersion, on_delete=models.PROTECT, related_name="succession")
    next = models.OneToOneField(TaskSetVersion, on_delete=models.PROTECT, related_name="precession")
    mark = models.CharField(max_length=12, choices=Mark.choices, default=Mark.ANNOTATED)
    shifts = models.JSONField()
    """By domain, in whole points: `shift`, the mean over the anchors, and `repeat`, one anchor against itself."""
    stated_at = models.DateTimeField()
