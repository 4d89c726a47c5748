"""Reads of what detection found: about vendors, for the console and sealed workers only.

Web processes load this, so it loads no arrays; what is per task stands in `exposure` and `evidence`.
"""

from __future__ import annotations

from collections.abc import Sequence

from benchmark.models import TaskSetVersion
from governance.watch.models import Alarm, Examination, GapFigure
from submissions.models import Submission

ACCUSING = (Alarm.Kind.HOLD, Alarm.Kind.REVIEW)
"""Kinds that put a lineage in alarm; signals do not."""


def lineages_in_alarm(task_set: TaskSetVersion) -> set[str]:
    """Ids of lineages about which a hold or a review was raised, as text."""
    rows = Alarm.objects.filter(task_set=task_set, kind__in=ACCUSING)
    return {str(one) for one in rows.values_list("organisation__lineage_id", flat=True)}


def alarms(task_set: TaskSetVersion, kinds: Sequence[str] = tuple(Alarm.Kind)) -> list[Alarm]:
    """Alarms of a version, newest first, with organisation, harness and submission at hand; no task in them."""
    rows = Alarm.objects.filter(task_set=task_set, kind__in=kinds)
    return list(rows.select_related("organisation", "harness", "submission").order_by("-raised_at", "-id"))


def alarms_of(submission: Submission) -> list[Alarm]:
    """Alarms about one submission, oldest first."""
    return list(Alarm.objects.filter(submission=submission).order_by("raised_at", "id"))


def not_analysed(task_set: TaskSetVersion | None = None) -> list[Submission]:
    """Submissions with a release but without an analysis, oldest first: let through, or from before."""
    rows = Submission.objects.filter(release__isnull=False).exclude(
        pk__in=Examination.objects.filter(sequence__isnull=False).values("submission")
    )
    if task_set is not None:
        rows = rows.filter(task_set=task_set)
    return list(
        rows.select_related("organisation", "harness_version", "task_set", "held_out_run").order_by("id")
    )


def failing() -> list[Examination]:
    """Analyses that fail and hold a release back, or did for a day."""
    rows = Examination.objects.filter(sequence=None).select_related("submission__organisation", "task_set")
    return list(rows.order_by("failed_since"))


def gaps(task_set: TaskSetVersion) -> list[GapFigure]:
    """Gap figures of a version in the order they were measured."""
    rows = GapFigure.objects.filter(task_set=task_set)
    return list(
        rows.select_related("submission__organisation", "submission__harness_version__harness").order_by(
            "measured_at", "submission_id"
        )
    )
