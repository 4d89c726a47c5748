"""Confirmation runs with what they gave, sealed until a dated release, and the calendar of those."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from benchmark.models import TaskSetVersion
from config.ids import new_id
from evaluation.models import EvaluationRun
from governance.confirmation.policies import ENDS, MOST
from submissions.models import Harness, Submission


class ReleaseDate(models.Model):
    """One date of the public calendar. When it takes place it freezes one document, which is never changed."""

    class Kind(models.TextChoices):
        RESULTS = "results", _("comparable results")
        ERRATA = "errata", _("errata")

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    label = models.SlugField(max_length=40, unique=True)
    kind = models.CharField(max_length=8, choices=Kind.choices, default=Kind.RESULTS)
    planned_for = models.DateTimeField()
    dated_at = models.DateTimeField(null=True, blank=True)
    """When it took place; null while it is ahead."""
    document = models.TextField(blank=True)
    """The canonical JSON of everything published then; its very bytes are what is downloaded."""
    sha256 = models.CharField(max_length=64, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(dated_at=None, document="", sha256="")
                | Q(dated_at__isnull=False, kind="errata", document="", sha256="")
                | (Q(dated_at__isnull=False) & ~Q(document="") & ~Q(sha256="")),
                name="release_date_has_its_document",
            ),
        ]

    def __str__(self) -> str:
        return self.label


class ConfirmationRun(models.Model):
    """A submission run once more with fresh seeds, to be published. `state` moves by the table in `policies`."""

    class State(models.TextChoices):
        REQUESTED = "requested", pgettext_lazy("confirmation", "requested")
        QUEUED = "queued", pgettext_lazy("confirmation", "queued")
        RUNNING = "running", pgettext_lazy("confirmation", "running")
        GRADING = "grading", pgettext_lazy("confirmation", "being graded")
        CONFIRMED = "confirmed", pgettext_lazy("confirmation", "confirmed")
        INCOMPLETE = "incomplete", pgettext_lazy("confirmation", "incomplete")
        WITHDRAWN = "withdrawn", pgettext_lazy("confirmation", "withdrawn")

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    submission = models.ForeignKey(Submission, on_delete=models.PROTECT, related_name="confirmations")
    harness = models.ForeignKey(Harness, on_delete=models.PROTECT, related_name="+")
    task_set = models.ForeignKey(TaskSetVersion, on_delete=models.PROTECT, related_name="+")
    number = models.PositiveSmallIntegerField(default=1)
    """The line's first or, where that ended incomplete, its second on this version."""
    state = models.CharField(max_length=12, choices=State.choices, default=State.REQUESTED)
    state_since = models.DateTimeField()
    cause = models.CharField(max_length=24, default="asked")
    run = models.OneToOneField(
        EvaluationRun, on_delete=models.PROTECT, related_name="+", null=True, blank=True
    )
    requested_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)
    rerun_since = models.DateTimeField(null=True, blank=True)
    """When runs that the platform lost were first repeated."""
    rerun_count = models.PositiveSmallIntegerField(default=0)
    next_rerun_at = models.DateTimeField(null=True, blank=True)
    release_date = models.ForeignKey(
        ReleaseDate, on_delete=models.PROTECT, related_name="confirmations", null=True, blank=True
    )
    """The dated release that published it, or counted it as withdrawn. From then on nothing of it changes."""

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(state__in=sorted(ENDS), ended_at__isnull=False)
                | Q(state__in=("requested", "queued", "running", "grading"), ended_at=None),
                name="confirmation_end_dated",
            ),
            models.CheckConstraint(
                condition=~Q(state__in=("running", "grading", "confirmed")) | Q(run__isnull=False),
                name="confirmation_under_way_has_run",
            ),
            models.CheckConstraint(
                condition=Q(release_date=None) | Q(state__in=("confirmed", "withdrawn")),
                name="confirmation_dated_once_it_ended",
            ),
            models.CheckConstraint(
                condition=Q(number__gte=1, number__lte=MOST), name="confirmation_number_known"
            ),
            models.UniqueConstraint(
                fields=["harness", "task_set", "number"], name="confirmation_numbered_once"
            ),
            models.UniqueConstraint(
                fields=["harness", "task_set"],
                condition=~Q(state="incomplete"),
                name="confirmation_once_a_line_and_version",
            ),
        ]
        indexes = [
            models.Index(fields=["state"], name="confirmation_open", condition=Q(release_date=None)),
        ]


class ConfirmationResult(models.Model):
    """What a confirmation run gave: values, side figures, and the root over its runs. Read by sealed work only."""

    confirmation = models.OneToOneField(
        ConfirmationRun, primary_key=True, on_delete=models.PROTECT, related_name="result"
    )
    policy = models.ForeignKey("governance.ReleasePolicy", on_delete=models.PROTECT, related_name="+")
    values = models.JSONField()
    """By domain and `enterprise`: value and h, as the release function returned them."""
    sides = models.JSONField()
    """Side figures by name, then by domain, or `enterprise` where the three are pooled."""
    coverage = models.CharField(max_length=8)
    root = models.CharField(max_length=64)
    runs = models.PositiveIntegerField()
    wrapped_secret = models.BinaryField()
    made_at = models.DateTimeField()
