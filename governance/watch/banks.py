"""A frozen version's tasks as the detectors see them, and a graded run as rows over them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from uuid import UUID

import numpy as np

from benchmark.models import Group, TaskRevision
from evaluation.models import Ending, EvaluationRun, PublicTaskResult
from governance.aggregates import GradedRun
from governance.detection.behaviour import Rows, Runs, summarise
from governance.detection.tasks import Task, TaskTable

KEPT_BANKS = 4


@dataclass(frozen=True)
class Bank:
    """The held-out tasks by domain and name, then the public ones; `places` finds a task's row."""

    table: TaskTable
    held_out: tuple[UUID, ...]
    public: tuple[UUID, ...]
    places: Mapping[UUID, int]

    def __len__(self) -> int:
        return len(self.places)


@dataclass(frozen=True)
class TaskRun:
    """One run of one task, whichever group it is of. Without a valid result it did not end by itself."""

    task_id: UUID
    index: int
    answer: str = ""
    tokens: int = 0
    seconds: float = 0.0
    is_success: bool = False
    score: float = 0.0
    has_ended: bool = False


@lru_cache(maxsize=KEPT_BANKS)
def bank_of(task_set_id: UUID) -> Bank:
    """Of a frozen version, whose tasks never change."""
    rows = list(
        TaskRevision.objects.filter(version=task_set_id, group__in=(Group.HELD_OUT, Group.PUBLIC)).order_by(
            "domain", "slug"
        )
    )
    rows.sort(key=lambda row: row.group == Group.PUBLIC)
    difficulties = sorted({row.difficulty for row in rows})
    families = sorted({row.family for row in rows})
    tasks = [
        Task(
            id=str(row.pk),
            domain=row.domain,
            category=row.category,
            operation=row.operation,
            tier=difficulties.index(row.difficulty),
            family=families.index(row.family),
            order=at,
            public=row.group == Group.PUBLIC,
        )
        for at, row in enumerate(rows)
    ]
    return Bank(
        table=TaskTable(tasks),
        held_out=tuple(row.pk for row in rows if row.group == Group.HELD_OUT),
        public=tuple(row.pk for row in rows if row.group == Group.PUBLIC),
        places={row.pk: at for at, row in enumerate(rows)},
    )


def rows_of(
    bank: Bank, held_out: Iterable[GradedRun], runs_per_task: int, public: EvaluationRun | None
) -> Rows:
    """A row for every task of the bank; those of public tasks from the preflight inside the submission.

    A task that was not run has no runs. The groups are summarised apart: a template of one says nothing of the other.
    """
    return np.concatenate(
        [
            _summary(bank.held_out, _held_out(held_out), runs_per_task),
            _summary(bank.public, _public(public), public.runs_per_task if public is not None else 1),
        ]
    )


def _held_out(runs: Iterable[GradedRun]) -> Iterator[TaskRun]:
    for run in runs:
        if run.score is None:
            yield TaskRun(run.task_id, run.run_index)
            continue
        yield TaskRun(
            run.task_id,
            run.run_index,
            answer=run.answer if run.has_output else "",
            tokens=run.tokens or 0,
            seconds=run.seconds or 0.0,
            is_success=run.score.success,
            score=float(run.score.score),
            has_ended=run.ending == Ending.FINISHED,
        )


def _public(run: EvaluationRun | None) -> Iterator[TaskRun]:
    """Answers of public tasks are not compared: only whether they succeed is looked at."""
    for row in PublicTaskResult.objects.filter(run=run) if run is not None else ():
        yield TaskRun(
            row.task_id,
            row.run_index,
            tokens=row.tokens or 0,
            seconds=row.seconds,
            is_success=row.success,
            score=float(row.score),
            has_ended=row.ending == Ending.FINISHED,
        )


def _summary(tasks: tuple[UUID, ...], runs: Iterable[TaskRun], columns: int) -> Rows:
    shape = (len(tasks), columns)
    places = {task: at for at, task in enumerate(tasks)}
    found = Runs(
        artefact=np.zeros(shape, dtype=np.uint64),
        tokens=np.zeros(shape),
        duration=np.zeros(shape),
        success=np.zeros(shape, dtype=np.uint8),
        score=np.zeros(shape),
        ok=np.zeros(shape, dtype=bool),
    )
    is_run = np.zeros(shape, dtype=bool)
    for run in runs:
        if (row := places.get(run.task_id)) is None or run.index >= columns:
            continue
        at = row, run.index
        is_run[at] = True
        found.artefact[at] = _short(run.answer)
        found.tokens[at], found.duration[at] = run.tokens, run.seconds
        found.success[at], found.score[at], found.ok[at] = run.is_success, run.score, run.has_ended
    rows = summarise(found)
    rows["runs"] = np.where(is_run.any(axis=1), columns, 0)
    return rows


def _short(answer: str) -> int:
    """Eight bytes of a digest; 0 is kept for no answer."""
    return int.from_bytes(hashlib.sha256(answer.encode()).digest()[:8], "little") or 1 if answer else 0
