"""Reads of what detection found. Most of it is per task or about vendors: for the console and sealed workers only.

Whoever shows exposure or evidence to a person appends `ExposureRead` or `AlarmEvidenceRead` first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

import numpy as np

from benchmark.models import TaskRevision, TaskSetVersion
from evaluation.upstreams.models import Exposure as Endpoint
from governance.detection.exposure import Exposure
from governance.watch import evidence as shown
from governance.watch import storing
from governance.watch.banks import bank_of
from governance.watch.evidence import EvidenceShown
from governance.watch.models import Alarm, AlarmEvidence, Examination, ExposureShare, GapFigure, TaskMarks
from governance.watch.readers import readers
from submissions.models import Submission

ACCUSING = (Alarm.Kind.HOLD, Alarm.Kind.REVIEW)
"""Kinds that put a lineage in alarm; signals do not."""


@dataclass(frozen=True)
class TaskExposure:
    """What is known of one held-out task. Bits and score are unrounded; they never leave the console."""

    task_id: UUID
    slug: str
    domain: str
    bits: float
    """By all answers."""
    gate_bits: float
    """By answers about sets that metadata does not explain."""
    score: float
    """0.25·(all − gate) + gate, gate four times for lineages in alarm, and the marks of those."""
    is_memorised: bool
    """A lineage in alarm solves it as from memory."""
    submissions: int
    """Runs of harnesses that were given it."""
    organisations: int
    """Organisations whose own endpoint could read it."""
    providers: int
    """Providers that served a model, or that a HarnessCard names, for a submission that was given it."""


def exposure(task_set: TaskSetVersion) -> list[TaskExposure]:
    """Every held-out task of a frozen version, the highest score first; equal scores in the order of the bank."""
    bank = bank_of(task_set.pk)
    table = bank.table.held_out_table
    found = accumulated(task_set)
    alarmed = lineages_in_alarm(task_set)
    score, gate = found.score(alarmed), found.gate_like()
    memorised = np.zeros(len(table), dtype=bool)
    for lineage in alarmed & found.memorised.keys():
        memorised |= found.memorised[lineage]
    given, organisations, providers = _content(task_set, len(table))
    slugs = dict(TaskRevision.objects.filter(version=task_set).values_list("id", "slug"))
    return [
        TaskExposure(
            task_id=bank.held_out[at],
            slug=slugs[bank.held_out[at]],
            domain=table.tasks[at].domain,
            bits=float(found.every[at]),
            gate_bits=float(gate[at]),
            score=float(score[at]),
            is_memorised=bool(memorised[at]),
            submissions=int(given[at]),
            organisations=int(organisations[at]),
            providers=int(providers[at]),
        )
        for at in map(int, np.argsort(-score, kind="stable"))
    ]


def accumulated(task_set: TaskSetVersion) -> Exposure:
    """Both columns and the marks, summed over what was written down."""
    table = bank_of(task_set.pk).table.held_out_table
    found = Exposure(table)
    lineage = "submission__organisation__lineage_id"
    shares = ExposureShare.objects.filter(task_set=task_set).order_by("shown_at", "run_id")
    for whose, changed, asked in shares.values_list(lineage, "changed", "asked"):
        found.release(str(whose), storing.mask_of(changed, len(table)), storing.mask_of(asked, len(table)))
    marks = TaskMarks.objects.filter(task_set=task_set).order_by("submission_id")
    for whose, memorised, failed_once in marks.values_list(lineage, "memorised", "failed_once"):
        found.remember(str(whose), storing.mask_of(memorised, len(table)))
        found.suspect(str(whose), storing.mask_of(failed_once, len(table)))
    return found


def lineages_in_alarm(task_set: TaskSetVersion) -> set[str]:
    """Ids of lineages about which a hold or a review was raised, as text."""
    rows = Alarm.objects.filter(task_set=task_set, kind__in=ACCUSING)
    return {str(one) for one in rows.values_list("organisation__lineage_id", flat=True)}


def _content(task_set: TaskSetVersion, tasks: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """By task: submissions that were given it, organisations and providers that could read it."""
    rows = Submission.objects.filter(task_marks__task_set=task_set).select_related(
        "task_marks", "harness_version"
    )
    submissions = list(rows)
    who = readers(submissions)
    given = np.zeros(tasks, dtype=np.int64)
    by_name: dict[tuple[str, str], np.ndarray] = {}
    for row in submissions:
        answered = storing.mask_of(row.task_marks.answered, tasks)
        given += answered
        reader = who[row.pk]
        names = [("provider", name) for name in reader.providers]
        if reader.endpoint == Endpoint.VENDOR_ENDPOINT:
            names.append(("organisation", str(reader.organisation_id)))
        for name in names:
            by_name[name] = by_name.get(name, np.zeros(tasks, dtype=bool)) | answered
    counts = {kind: np.zeros(tasks, dtype=np.int64) for kind in ("organisation", "provider")}
    for (kind, _), mask in by_name.items():
        counts[kind] += mask
    return given, counts["organisation"], counts["provider"]


def evidence(alarm: Alarm) -> EvidenceShown:
    """What the alarm rests on. Raises AlarmEvidence.DoesNotExist where the process may not know, or nothing is kept."""
    return shown.read(AlarmEvidence.objects.get(alarm=alarm).content)


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
