"""The detectors' state of one version, from stored behaviour; the database is the truth, what is kept here is speed.

A process keeps the state of few versions. It is brought up to date before it is used, and built anew where what it
was made under is no longer so: other levels, other lineages, another order.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from governance.detection.analysis import Analysis
from governance.detection.behaviour import Rows
from governance.detection.levels import Levels
from governance.detection.levels import read as shipped
from governance.detection.streams import Recorded
from governance.watch import storing
from governance.watch.banks import bank_of
from governance.watch.models import Behaviour, DetectionLevels, Examination
from submissions.models import Submission

KEPT = 2
"""Versions whose state a process keeps: 22 bytes a task and submission each."""
Taken = tuple[UUID, ...]
Lineages = dict[UUID, UUID]


@dataclass
class State:
    """An analysis that has taken these submissions, in this order, under these levels and lineages."""

    analysis: Analysis
    taken: Taken
    lineages: Lineages
    levels_id: UUID


_kept: OrderedDict[UUID, State] = OrderedDict()


def keep(task_set_id: UUID, state: State) -> None:
    """For the next submission; once the transaction that it was made in holds."""
    _kept[task_set_id] = state
    _kept.move_to_end(task_set_id)
    while len(_kept) > KEPT:
        _kept.popitem(last=False)


def forget() -> None:
    """Drop what is kept."""
    _kept.clear()


def current(task_set_id: UUID, levels: DetectionLevels) -> State:
    """The state after every submission of the version that was analysed. The caller holds the version.

    What is handed out is kept no longer: whoever changes it puts it back, and a failure half-way leaves nothing.
    """
    taken, lineages = _numbered(task_set_id)
    state = _kept.pop(task_set_id, None)
    if state is None or not _continues(state, taken, lineages, levels):
        state = State(
            Analysis(bank_of(task_set_id).table, Levels(levels.levels, levels.record)), (), {}, levels.id
        )
    for one in recorded(task_set_id, taken[len(state.taken) :]):
        state.analysis.observe(one)
    return State(state.analysis, taken, lineages, levels.id)


def history(task_set_id: UUID) -> list[Recorded]:
    """Everything that the detectors took of the version, in order."""
    taken, _ = _numbered(task_set_id)
    return list(recorded(task_set_id, taken))


def levels_now(task_set_id: UUID) -> Levels:
    """Those that the latest analysis of the version went by; the shipped ones before the first."""
    last = (
        Examination.objects.filter(task_set=task_set_id, sequence__isnull=False).order_by("-sequence").first()
    )
    return Levels(last.levels.levels, last.levels.record) if last and last.levels else shipped()


def _continues(state: State, taken: Taken, lineages: Lineages, levels: DetectionLevels) -> bool:
    return (
        state.levels_id == levels.id
        and state.taken == taken[: len(state.taken)]
        and all(lineages[one] == state.lineages[one] for one in state.taken)
    )


def _numbered(task_set_id: UUID) -> tuple[Taken, Lineages]:
    """Analysed submissions in order, and the lineage that each is of now."""
    rows = Examination.objects.filter(task_set=task_set_id, sequence__isnull=False).order_by("sequence")
    found = list(rows.values_list("submission_id", "submission__organisation__lineage_id"))
    return tuple(one for one, _ in found), dict(found)


def recorded(task_set_id: UUID, which: Taken) -> Iterator[Recorded]:
    """These submissions as the detectors take them, in the order given."""
    tasks = len(bank_of(task_set_id))
    for start in range(0, len(which), 200):
        part = which[start : start + 200]
        facts = {row.pk: row for row in _submissions(part)}
        runs = {row.held_out_run_id: one for one, row in facts.items()}
        kept = {runs[row.run_id]: row for row in Behaviour.objects.filter(run__in=list(runs))}
        for one in part:
            yield of(facts[one], storing.unpacked(kept[one].columns, tasks))


def of(submission: Submission, rows: Rows) -> Recorded:
    """One submission: its harness line is the account, its lineage the organisation of the detectors."""
    version = submission.harness_version
    return Recorded(
        id=str(submission.pk),
        account=str(version.harness_id),
        organisation=str(submission.organisation.lineage_id),
        version=version.version,
        submitted_at=submission.admitted_at,
        digest=submission.content_digest or submission.package_digest,
        base_model=model_of(version.card),
        rows=rows,
    )


def model_of(card: dict[str, Any]) -> str:
    """The models that a HarnessCard declares, as one text; empty where it declares none."""
    return ", ".join(sorted(str(model.get("name", "")) for model in card.get("models", [])))


def _submissions(which: Taken) -> Iterator[Submission]:
    rows = Submission.objects.filter(pk__in=which)
    yield from rows.select_related("harness_version", "organisation")
