"""What a run's rows say for the release rules: behaviour and noise by domain, and the earlier answers of a lineage."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from governance.aggregates import GradedRun, runs_of
from governance.disclosure.changes import RunBehaviour, TaskBehaviour, behaviour
from governance.disclosure.gate import Known, noise_of
from governance.models import ConfirmationRun, DomainAggregate, Release
from governance.release import by_domain
from submissions.models import Submission


@dataclass(frozen=True)
class Observed:
    """One submission by domain: behaviour of each task, noise of the mean, and each task's mean score.

    Tasks without a valid run are in none of them. Scores serve the ladder, and noise says whether answers wander;
    the gate itself reads behaviour only.
    """

    behaviour: Mapping[str, Mapping[str, TaskBehaviour]]
    noise: Mapping[str, Fraction]
    means: Mapping[str, Mapping[str, Fraction]]


@dataclass(frozen=True)
class Answer:
    """An earlier release of the lineage: what was observed, and by domain the value shown or why there is none."""

    submission: Submission
    observed: Observed
    values: Mapping[str, int | None]
    reasons: Mapping[str, str]

    is_confirmed: bool = False
    """Whether its package has a confirmation run, which shows every domain once more, gated or not."""

    def known(self) -> Known[Submission]:
        shown = frozenset(
            domain for domain, value in self.values.items() if value is not None or self.is_confirmed
        )
        return Known(self.submission, self.observed.behaviour, self.observed.noise, shown)


def observed(runs: Iterable[GradedRun]) -> Observed:
    """Of the prescribed runs of one submission."""
    domains = by_domain((run.domain, run.task_digest, run) for run in runs)
    rows = {
        domain: {task[0].task_digest: [run for run in task if run.score is not None] for task in tasks}
        for domain, tasks in domains.items()
    }
    return Observed(
        behaviour={domain: _behaviours(tasks) for domain, tasks in rows.items()},
        noise={
            domain: noise_of(_scores(task) for task in tasks.values() if task)
            for domain, tasks in rows.items()
        },
        means={
            domain: {
                name: sum(_scores(task), Fraction(0)) / len(task) for name, task in tasks.items() if task
            }
            for domain, tasks in rows.items()
        },
    )


def earlier_answers(submission: Submission) -> list[Answer]:
    """What the lineage was answered of this version before, in the order of admission."""
    rows = (
        Release.objects.filter(
            submission__organisation__lineage=submission.organisation.lineage_id,
            submission__task_set=submission.task_set_id,
        )
        .exclude(submission=submission)
        .select_related("submission__held_out_run")
        .prefetch_related("domains")
        .order_by("submission__admitted_at", "submission_id")
    )
    confirmed = set(
        ConfirmationRun.objects.filter(submission__in=rows.values("submission"))
        .exclude(state__in=(ConfirmationRun.State.INCOMPLETE, ConfirmationRun.State.WITHDRAWN))
        .values_list("submission", flat=True)
    )
    return [_answer(row, is_confirmed=row.submission_id in confirmed) for row in rows]


def _answer(release: Release, *, is_confirmed: bool) -> Answer:
    run = release.submission.held_out_run
    assert run is not None, "a release has a run"
    domains: list[DomainAggregate] = list(release.domains.all())
    return Answer(
        submission=release.submission,
        observed=observed(runs_of(run)),
        values={row.domain: row.value for row in domains},
        reasons={row.domain: row.reason for row in domains},
        is_confirmed=is_confirmed,
    )


def _behaviours(tasks: Mapping[str, list[GradedRun]]) -> dict[str, TaskBehaviour]:
    found = {name: behaviour([_run(run) for run in task]) for name, task in tasks.items()}
    return {name: row for name, row in found.items() if row is not None}


def _run(run: GradedRun) -> RunBehaviour:
    return RunBehaviour(answer=run.answer, is_active=run.has_output, tokens=run.tokens)


def _scores(task: Iterable[GradedRun]) -> list[Fraction]:
    return [Fraction(run.score.score) for run in task if run.score is not None]
