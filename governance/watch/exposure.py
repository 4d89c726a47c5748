"""Which held-out tasks answers and endpoints could have told of. Per task: the console and sealed workers only.

Whoever shows exposure to a person appends `ExposureRead` first. Apart from `queries`, which load no arrays.
"""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

import numpy as np

from benchmark.models import TaskRevision, TaskSetVersion
from evaluation.upstreams.models import Exposure as Endpoint
from governance.detection.exposure import Exposure
from governance.watch import storing
from governance.watch.banks import bank_of
from governance.watch.models import ExposureShare, TaskMarks
from governance.watch.queries import lineages_in_alarm
from governance.watch.readers import readers
from submissions.models import Submission


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
