"""Which tasks each answer could tell something about, taken once it was given, in the order the answers were given."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import transaction

from benchmark.models import TaskSetVersion
from evaluation.models import EvaluationRun
from governance.detection.answers import Answered, Told, told
from governance.models import ConfirmationResult, DomainAggregate, Release
from governance.watch import storing
from governance.watch.banks import bank_of
from governance.watch.models import ExposureShare
from governance.watch.services import behaviour_of, hold_version
from submissions.models import Submission


@dataclass(frozen=True)
class Answer:
    """A run whose values were given to its vendor, and in which domains."""

    run: EvaluationRun
    submission: Submission
    domains: frozenset[str]
    shown_at: datetime

    @property
    def harness_id(self) -> UUID:
        return self.submission.harness_version.harness_id


def expose() -> int:
    """Write down what answers given since the last time could tell; how many. Repeats change nothing."""
    count = 0
    for task_set_id in _versions():
        with transaction.atomic():
            hold_version(task_set_id)
            known = set(ExposureShare.objects.filter(task_set=task_set_id).values_list("run_id", flat=True))
            found = answers(task_set_id)
            due = {one.harness_id for one in found if one.run.pk not in known}
            for one, what in shares([answer for answer in found if answer.harness_id in due]):
                if one.run.pk not in known:
                    _keep(one, what)
                    count += 1
    return count


def shares(given: Sequence[Answer]) -> Iterator[tuple[Answer, Told]]:
    """What each of these answers could tell to who has the earlier ones of its harness line. Nothing is read back."""
    earlier: dict[UUID, list[Answered]] = defaultdict(list)
    for one in given:
        table = bank_of(one.run.version_id).table.held_out_table
        new = Answered(behaviour_of(one.run, one.submission)[: len(table)], one.domains)
        line = earlier[one.harness_id]
        yield one, told(new, line, table)
        line.append(new)


def differences(task_set: TaskSetVersion) -> list[str]:
    """Runs about which something else, or nothing, was written down than their behaviour and releases give now."""
    with transaction.atomic():
        hold_version(task_set.pk)
        kept = {
            row.run_id: (bytes(row.changed), bytes(row.asked), row.shown_at)
            for row in ExposureShare.objects.filter(task_set=task_set)
        }
        found = {
            one.run.pk: (storing.mask_bytes(what.changed), storing.mask_bytes(what.asked), one.shown_at)
            for one, what in shares(answers(task_set.pk))
        }
    return sorted(str(run) for run in kept.keys() | found.keys() if kept.get(run) != found.get(run))


def answers(task_set_id: UUID) -> list[Answer]:
    """Releases and confirmation runs of the version that showed a value, in the order of their showing."""
    shown: dict[UUID, set[str]] = defaultdict(set)
    values = DomainAggregate.objects.filter(
        release__submission__task_set=task_set_id, status=DomainAggregate.Status.REPORTED
    )
    for release, domain in values.values_list("release_id", "domain"):
        shown[release].add(domain)
    found = []
    related = ("submission__harness_version", "submission__held_out_run", "submission__preflight_run")
    for row in Release.objects.filter(submission__task_set=task_set_id).select_related(*related):
        if shown[row.pk] and row.submission.held_out_run is not None:
            found.append(
                Answer(row.submission.held_out_run, row.submission, frozenset(shown[row.pk]), row.released_at)
            )
    results = ConfirmationResult.objects.filter(confirmation__task_set=task_set_id).select_related(
        "confirmation__run", *(f"confirmation__{name}" for name in related)
    )
    domains = {task.domain for task in bank_of(task_set_id).table.tasks}
    for result in results:
        run, submission = result.confirmation.run, result.confirmation.submission
        if run is not None:
            found.append(Answer(run, submission, frozenset(domains & result.values.keys()), result.made_at))
    return sorted(found, key=lambda one: (one.shown_at, str(one.run.pk)))


def _versions() -> set[UUID]:
    """Versions with an answer that nothing was written down about."""
    with_releases = Release.objects.filter(submission__held_out_run__exposure_share=None)
    with_results = ConfirmationResult.objects.filter(confirmation__run__exposure_share=None)
    return {
        *with_releases.filter(domains__status=DomainAggregate.Status.REPORTED).values_list(
            "submission__task_set", flat=True
        ),
        *with_results.values_list("confirmation__task_set", flat=True),
    }


def _keep(answer: Answer, what: Told) -> None:
    ExposureShare.objects.create(
        run=answer.run,
        submission=answer.submission,
        task_set_id=answer.run.version_id,
        changed=storing.mask_bytes(what.changed),
        asked=storing.mask_bytes(what.asked),
        shown_at=answer.shown_at,
    )
