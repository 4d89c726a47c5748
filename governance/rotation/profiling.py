"""A profiling stored: fixed harnesses on every task of a version and of the reserve, from the sealed packs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from django.db import transaction

from audit import log
from audit.events import Actor
from benchmark.models import TaskRevision, TaskSetVersion
from benchmark.queries import content_digest
from config import clock
from evaluation.assets import AssetCache
from governance.records import services as records
from governance.records.models import Problem
from governance.rotation import events, queries, trials
from governance.rotation.models import Profiling, TaskProfile
from governance.rotation.queries import THOUSANDTHS
from governance.rotation.trials import Baseline, Subject, Trial, Tried

PROCESSES = 2


def profile(
    task_set: TaskSetVersion, baselines: Sequence[Baseline], *, runs: int, seed: str, by: Actor
) -> Profiling:
    """Run them all and store what they scored. Takes a tenth of a second for each harness, task and run."""
    tasks = list(queries.profiled_tasks(task_set))
    tried = try_on(tasks, baselines, runs=runs, seed=seed)
    return record(task_set, tasks, tried, baselines, runs=runs, seed=seed, by=by)


def try_on(
    tasks: Sequence[TaskRevision], baselines: Sequence[Baseline], *, runs: int, seed: str
) -> list[Tried]:
    """What the baselines score on these tasks; nothing is stored. Raises trials.TrialFailed."""
    with TemporaryDirectory(prefix="profiling-") as place:
        cache = AssetCache(Path(place))
        work = [Trial(subject_of(task, cache), tuple(baselines), runs, seed) for task in tasks]
        tried = trials.try_all(work, processes=PROCESSES)
    return [Tried(str(task.pk), found.scores) for task, found in zip(tasks, tried, strict=True)]


def subject_of(task: TaskRevision, cache: AssetCache) -> Subject:
    """The task as its packs hold it, without gold. Its key is the digest of its content.

    So that a task that stays is tried with the same random numbers in both versions, and only what was replaced moves.
    """
    environment = cache.files(task.environment_pack_id, task.environment_offset, task.environment_size)
    grading = cache.files(task.grading_pack_id, task.grading_offset, task.grading_size)
    return Subject(task.digest, {**environment, **grading}, task.turns)


def record(
    task_set: TaskSetVersion,
    tasks: Sequence[TaskRevision],
    tried: Sequence[Tried],
    baselines: Sequence[Baseline],
    *,
    runs: int,
    seed: str,
    by: Actor,
) -> Profiling:
    """Store it with the digests of harnesses, bank and scores."""
    scores = {found.key: _thousandths(found) for found in tried}
    digests = {baseline.label: trials.digest_of(baseline) for baseline in baselines}
    with transaction.atomic():
        row = Profiling.objects.create(
            task_set=task_set,
            path=trials.PATH,
            runs=runs,
            seed=seed,
            baselines=digests,
            bank_digest=content_digest(task_set),
            evaluator_version=task_set.evaluator_version,
            tasks=len(tasks),
            digest=queries.digest_of(scores),
            made_at=clock.now(),
        )
        TaskProfile.objects.bulk_create(
            [TaskProfile(profiling=row, task=task, scores=scores[str(task.pk)]) for task in tasks],
            batch_size=500,
        )
        event = events.Profiled(
            subject=row.id,
            task_set=task_set.label,
            bank_digest=row.bank_digest,
            baselines=digests,
            runs=runs,
            path=row.path,
            tasks=row.tasks,
            digest=row.digest,
        )
        log.append(event, by=by)
    return row


def report_chance(profiling: Profiling, baseline: str, *, by: Actor) -> list[Problem]:
    """Report as problems the tasks that a baseline solves which answers by chance: their rules let through too much."""
    rows = profiling.profiles.values_list("task_id", "scores")
    scores = {task: [score / THOUSANDTHS for score in found[baseline]] for task, found in rows}
    return records.report_anomalies(profiling.task_set, scores, by=by)


def _thousandths(found: Tried) -> dict[str, list[int]]:
    return {name: [round(score * THOUSANDTHS) for score in runs] for name, runs in found.scores.items()}


def means(tasks: Sequence[TaskRevision], tried: Sequence[Tried]) -> Mapping[str, dict[str, float]]:
    """By baseline and domain, the mean over tasks of the mean score over runs, in [0, 1]."""
    domains = {str(task.pk): task.domain for task in tasks}
    found: dict[str, dict[str, list[float]]] = {}
    for name, key, score in _scores(tried):
        found.setdefault(name, {}).setdefault(domains[key], []).append(score)
    return {
        name: {domain: sum(scores) / len(scores) for domain, scores in sorted(rows.items())}
        for name, rows in found.items()
    }


def _scores(tried: Sequence[Tried]) -> Iterator[tuple[str, str, float]]:
    for found in tried:
        for name, runs in found.scores.items():
            yield name, found.key, sum(runs) / len(runs)
