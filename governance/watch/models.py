"""What live detection keeps: behaviour of finished runs, who was analysed, alarms with their evidence, exposure.

Behaviour, evidence and masks are per task: sealed workers write them, the console reads what a reviewer may see, and
no process that serves vendors reads anything here.
"""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from accounts.models import Organisation
from benchmark.models import TaskSetVersion
from config.ids import new_id
from evaluation.models import EvaluationRun
from submissions.models import Harness, Submission


class DetectionLevels(models.Model):
    """What a lineage's sum must reach in each channel, from `valid_from` on. Rows are never changed."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    runs_per_task = models.PositiveSmallIntegerField()
    """The levels hold for versions with so many runs of each task."""
    levels = models.JSONField()
    """By channel: −log10 of what is surprising, summed over a lineage (governance.detection.levels)."""
    record = models.JSONField(default=dict)
    """How they were found: streams, lineages, fitted tails."""
    valid_from = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["runs_per_task", "valid_from"], name="detection_levels_once_per_instant"
            ),
            models.CheckConstraint(condition=Q(runs_per_task__gte=1), name="detection_levels_of_some_runs"),
        ]


class Examination(models.Model):
    """Whether a graded submission was analysed, as the how-manieth of its version; or since when that fails."""

    submission = models.OneToOneField(
        Submission, primary_key=True, on_delete=models.PROTECT, related_name="examination"
    )
    task_set = models.ForeignKey(TaskSetVersion, on_delete=models.PROTECT, related_name="+")
    sequence = models.PositiveIntegerField(null=True)
    """The order in which the detectors took the submissions of the version."""
    levels = models.ForeignKey(DetectionLevels, on_delete=models.PROTECT, related_name="+", null=True)
    analysed_at = models.DateTimeField(null=True)
    failures = models.PositiveIntegerField(default=0)
    failed_since = models.DateTimeField(null=True)
    cause = models.CharField(max_length=80, blank=True, default="")
    """Class of the error that stopped it last."""
    given_up_at = models.DateTimeField(null=True)
    """When it was let through without; `manage.py governance analyse` takes it up again."""

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["task_set", "sequence"], name="examination_numbered_once"),
            models.CheckConstraint(
                condition=Q(sequence__isnull=False, levels__isnull=False, analysed_at__isnull=False)
                | Q(sequence=None, levels=None, analysed_at=None, failed_since__isnull=False),
                name="examination_done_or_failing",
            ),
        ]


class Behaviour(models.Model):
    """What one graded run did on each task: 22 bytes a task before compression (governance.detection.behaviour)."""

    run = models.OneToOneField(
        EvaluationRun, primary_key=True, on_delete=models.PROTECT, related_name="behaviour"
    )
    submission = models.ForeignKey(Submission, on_delete=models.PROTECT, related_name="behaviours")
    task_set = models.ForeignKey(TaskSetVersion, on_delete=models.PROTECT, related_name="+")
    tasks = models.PositiveIntegerField()
    """Rows: the held-out tasks of the version by domain and name, then the public ones."""
    columns = models.BinaryField()
    """The rows column by column, compressed."""
    digest = models.CharField(max_length=64)
    """SHA-256 of the rows."""
    taken_at = models.DateTimeField()


class TaskMarks(models.Model):
    """What an analysis noted beside bits: one bit for each held-out task of the version, in order."""

    submission = models.OneToOneField(
        Submission, primary_key=True, on_delete=models.PROTECT, related_name="task_marks"
    )
    task_set = models.ForeignKey(TaskSetVersion, on_delete=models.PROTECT, related_name="+")
    memorised = models.BinaryField()
    """Solved as from memory."""
    failed_once = models.BinaryField()
    """Failed for once, right about little."""
    answered = models.BinaryField()
    """Run at all: whoever reads the prompts could read these."""


class GapFigure(models.Model):
    """Success on public tasks less that on their held-out neighbours, of one submission; shares of 0 to 1.

    The public runs are those of the preflight inside the submission.
    """

    submission = models.OneToOneField(
        Submission, primary_key=True, on_delete=models.PROTECT, related_name="gap_figure"
    )
    task_set = models.ForeignKey(TaskSetVersion, on_delete=models.PROTECT, related_name="+")
    mean = models.FloatField()
    usual = models.FloatField()
    """The median over the harness lines of the version by then; 0 where there were few."""
    error = models.FloatField()
    """Standard error of `mean` less `usual`, from the spread between public tasks."""
    tasks = models.PositiveIntegerField()
    """Public tasks that were run."""
    lines = models.PositiveIntegerField()
    """Harness lines that the usual gap was taken from."""
    preflights = models.PositiveIntegerField()
    """Preflights of the harness line before, in submissions and on their own."""
    measured_at = models.DateTimeField()


class ExposureShare(models.Model):
    """What one answer could tell about which tasks: one bit for each held-out task of the version, in order."""

    run = models.OneToOneField(
        EvaluationRun, primary_key=True, on_delete=models.PROTECT, related_name="exposure_share"
    )
    submission = models.ForeignKey(Submission, on_delete=models.PROTECT, related_name="exposure_shares")
    task_set = models.ForeignKey(TaskSetVersion, on_delete=models.PROTECT, related_name="+")
    changed = models.BinaryField()
    """The changed set, in domains that showed a value."""
    asked = models.BinaryField()
    """What of it metadata does not explain."""
    shown_at = models.DateTimeField()


class Alarm(models.Model):
    """A level was reached. Nothing follows by itself but a hold, and people decide about that. Never changed."""

    class Kind(models.TextChoices):
        HOLD = "hold", _("hold and review")
        REVIEW = "review", _("review")
        SIGNAL = "signal", _("signal, for the dashboard only")

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    task_set = models.ForeignKey(TaskSetVersion, on_delete=models.PROTECT, related_name="+")
    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    harness = models.ForeignKey(Harness, on_delete=models.PROTECT, related_name="+")
    submission = models.ForeignKey(Submission, on_delete=models.PROTECT, related_name="alarms")
    channel = models.CharField(max_length=16)
    """One of `governance.watch.words.CHANNELS`."""
    kind = models.CharField(max_length=8, choices=Kind.choices)
    statistic = models.FloatField()
    level = models.FloatField()
    raised_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["submission", "channel", "kind"], name="alarm_once_a_submission_and_channel"
            ),
            models.UniqueConstraint(
                fields=["task_set", "harness", "channel"],
                condition=Q(kind="review"),
                name="alarm_for_review_once_a_line_and_channel",
            ),
            models.CheckConstraint(
                condition=Q(kind__in=("hold", "review", "signal")), name="alarm_kind_known"
            ),
        ]
        indexes = [models.Index(fields=["task_set", "-raised_at"], name="alarm_of_version")]


class AlarmEvidence(models.Model):
    """What an alarm rests on. It names tasks: written by sealed workers, read in the console only."""

    alarm = models.OneToOneField(Alarm, primary_key=True, on_delete=models.PROTECT, related_name="evidence")
    content = models.JSONField()
    """As `governance.watch.evidence` makes and reads it."""
