"""Orders to grade a released result again, what that found run by run, and the values that are shown as corrected."""

from __future__ import annotations

from django.db import models
from django.db.models import F, Q
from django.utils.translation import pgettext_lazy

from accounts.duties.models import person_column
from config.ids import new_id
from evaluation.models import Attempt, EvaluationRun
from submissions.models import Submission


class Cause(models.TextChoices):
    RULING = "ruling", pgettext_lazy("corrected because of", "a ruling on an appeal")
    DEFECT = "defect", pgettext_lazy("corrected because of", "a defect that was settled")


class Regrading(models.Model):
    """Ordered by two people: the run whose values are shown is graded again from its stored artefacts.

    It is no submission: it uses no slot, belongs to whom the submission belongs, and adds no row to any board.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    submission = models.ForeignKey(Submission, on_delete=models.PROTECT, related_name="regradings")
    run = models.ForeignKey(EvaluationRun, on_delete=models.PROTECT, related_name="+")
    cause = models.CharField(max_length=8, choices=Cause.choices)
    reference = models.CharField(max_length=64, blank=True)
    """Of the appeal or the problem that led to it."""
    ordered_by = person_column(db_column="ordered_by")
    approved_by = person_column(db_column="approved_by")
    ordered_at = models.DateTimeField()
    done_at = models.DateTimeField(null=True, blank=True)
    runs = models.PositiveIntegerField(null=True, blank=True)
    differences = models.PositiveIntegerField(null=True, blank=True)
    """Runs whose score is another one now. Sealed: such a count is finer than the grid."""
    root = models.CharField(max_length=64, blank=True)
    """Salted root over all runs as graded again; the event of the correction names it."""
    wrapped_secret = models.BinaryField(null=True, blank=True)
    grader = models.CharField(max_length=64, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=~Q(ordered_by=F("approved_by")), name="regrading_two_people"),
            models.CheckConstraint(
                condition=Q(
                    done_at=None, runs=None, differences=None, root="", wrapped_secret=None, grader=""
                )
                | Q(
                    done_at__isnull=False,
                    runs__gte=1,
                    differences__isnull=False,
                    wrapped_secret__isnull=False,
                ),
                name="regrading_done_whole",
            ),
            models.UniqueConstraint(
                fields=["submission"], condition=Q(done_at=None), name="regrading_one_under_way"
            ),
        ]


class RegradedRun(models.Model):
    """What grading a run again found, beside its first result, which stays. Read by sealed work only."""

    regrading = models.ForeignKey(Regrading, on_delete=models.PROTECT, related_name="found")
    attempt = models.ForeignKey(Attempt, on_delete=models.PROTECT, related_name="+")
    score = models.DecimalField(max_digits=12, decimal_places=10)
    success = models.BooleanField()
    failure_type = models.CharField(max_length=32, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["regrading", "attempt"], name="regraded_once"),
        ]


class Correction(models.Model):
    """The values of a submission as corrected, all domains at once; the first ones stay in their release."""

    regrading = models.OneToOneField(
        Regrading, primary_key=True, on_delete=models.PROTECT, related_name="correction"
    )
    submission = models.ForeignKey(Submission, on_delete=models.PROTECT, related_name="corrections")
    cause = models.CharField(max_length=8, choices=Cause.choices)
    values = models.JSONField()
    """By domain and `enterprise`: value and h; domains that showed none show none."""
    former = models.JSONField()
    """The same as they were shown before."""
    corrected_at = models.DateTimeField()
