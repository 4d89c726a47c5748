"""One reported defect. Seen by staff who see held-out tasks, and by sealed work; never where vendors are served."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils.translation import pgettext_lazy

from accounts.duties.models import person_column
from benchmark.models import TaskRevision, TaskSetVersion
from config.ids import new_id
from governance.records.lines import PARTS
from governance.records.problems.policies import ENDS, INITIAL


class Problem(models.Model):
    """A defect of a version, or of one task of it. `state` moves by the table in `policies`."""

    class Source(models.TextChoices):
        STAFF = "staff", pgettext_lazy("problem", "staff")
        APPEAL = "appeal", pgettext_lazy("problem", "an appeal")
        BASELINE = "baseline", pgettext_lazy("problem", "the random baseline")
        AUDIT = "audit", pgettext_lazy("problem", "an audit")

    class State(models.TextChoices):
        REPORTED = "reported", pgettext_lazy("problem", "reported")
        CONFIRMED = "confirmed", pgettext_lazy("problem", "confirmed")
        MENDED = "mended", pgettext_lazy("problem", "mended, waits for a version")
        SETTLED = "settled", pgettext_lazy("problem", "settled")
        DISMISSED = "dismissed", pgettext_lazy("problem", "dismissed")

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    task_set = models.ForeignKey(TaskSetVersion, on_delete=models.PROTECT, related_name="problems")
    task = models.ForeignKey(
        TaskRevision, on_delete=models.PROTECT, related_name="problems", null=True, blank=True
    )
    part = models.CharField(max_length=16, choices=list(PARTS.items()))
    source = models.CharField(max_length=8, choices=Source.choices)
    reference = models.CharField(max_length=64, blank=True)
    """What it came from: the id of an appeal, for instance."""
    evidence = models.TextField()
    state = models.CharField(max_length=12, choices=State.choices, default=INITIAL)
    state_since = models.DateTimeField()
    due_at = models.DateTimeField(null=True, blank=True)
    escalated_at = models.DateTimeField(null=True, blank=True)
    """When the deadline of this state was found to have passed."""
    reason = models.TextField(blank=True)
    """Of the last move."""
    decided_by = person_column(db_column="decided_by", null=True, blank=True)
    fixed_in = models.ForeignKey(
        TaskSetVersion, on_delete=models.PROTECT, related_name="+", null=True, blank=True
    )
    reported_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=(Q(state__in=sorted(ENDS)) & Q(due_at=None))
                | (~Q(state__in=sorted(ENDS)) & Q(due_at__isnull=False)),
                name="problem_has_a_deadline",
            ),
            models.CheckConstraint(
                condition=Q(state="settled", fixed_in__isnull=False)
                | (~Q(state="settled") & Q(fixed_in=None)),
                name="problem_settled_by_a_version",
            ),
        ]
        indexes = [models.Index(fields=["task_set", "state"], name="problem_by_version")]
