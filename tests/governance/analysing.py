"""Finished evaluations with behaviour of their own, for the detectors: three runs a task, artefacts and tokens."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from uuid import uuid4

from benchmark.models import TaskSetVersion
from config import clock
from evaluation.models import Attempt, Ending, Episode, PublicTaskResult, TaskResult
from governance.services import set_release_policy
from governance.tasks import tick
from submissions.models import Harness, Submission
from submissions.queries import Order
from submissions.services import advance, open_task_set, submit
from tests.factories import BY, frozen_version
from tests.governance.test_delivery import bring_on
from tests.governance.test_silences import DOMAINS, TASKS
from tests.submissions import world
from tests.submissions.bundles import bundle
from tests.submissions.outcomes import bring_to
from tests.submissions.world import end_run

USUAL = 20_000
SOLVED = 12
"""Of the 24 tasks of a domain."""


@dataclass(frozen=True)
class Answers:
    """How one version answers. Places count the tasks of a domain, for every domain alike.

    `build` names the artefacts; tasks at `rebuilt`, `within` some domains, leave others and behave as before; those
    at `refused` fail where they succeeded, at a twentieth of the price; `public` is how many public tasks of each
    domain succeed.
    """

    build: str = "first"
    tag: str = ""
    rebuilt: Collection[int] = ()
    within: Collection[str] = tuple(DOMAINS)
    refused: Collection[int] = ()
    public: int | None = None


def version_of_three() -> TaskSetVersion:
    """An open version with 24 held-out and two public tasks a domain, run three times each."""
    version = frozen_version("w1", dict.fromkeys(DOMAINS, (2, TASKS)))
    numbers = {"in_flight": 9, "line": 9, "account": 9, "lineage": 9, "runs_per_task": 3}
    open_task_set(version, profile="demo", numbers=numbers, by=BY)
    set_release_policy(version, profile="demo", tick_seconds=5, by=BY)
    return version


def evaluated(
    vendor: world.Vendor, version: TaskSetVersion, harness: Harness, answers: Answers = Answers()
) -> Submission:
    """A submission of the harness's next version that ran through and waits for its release."""
    row = vendor.version(harness)
    package = bundle(
        harness.name, row.version, {"run.py": uuid4().bytes}
    )  # nobody else's, nor an earlier one's
    order = Order(vendor.organisation, row, version, vendor.upload(row, package))
    receipt = submit(order, by=vendor.actor, key=uuid4().hex)
    found = Submission.objects.get(pk=receipt.submission_id)
    found = bring_to(found, "running") if answers.public is None else _running(found, answers.public)
    write(found, answers)
    return bring_on(found)


def ticked(submission: Submission) -> Submission:
    """After the next tick."""
    with clock.shifted(timedelta(seconds=6)):
        tick()
    submission.refresh_from_db()
    return submission


def write(submission: Submission, answers: Answers) -> None:
    """All runs of the held-out group."""
    episodes = Episode.objects.filter(run=submission.held_out_run).select_related("task")
    tries, results = [], []
    for episode in episodes.order_by("task__slug", "run_index"):
        domain, at = episode.task.domain, _number(episode)
        is_refused, is_right = at in answers.refused, at < SOLVED and at not in answers.refused
        build = (
            answers.tag
            if is_refused or (at in answers.rebuilt and domain in answers.within)
            else answers.build
        )
        attempt = Attempt(
            episode=episode,
            number=1,
            fence=1,
            worker="w",
            started_at=clock.now(),
            ending=Ending.FINISHED,
            has_output=True,
            answer_sha256=f"{build}-{domain}-{at}",
        )
        tries.append(attempt)
        results.append(
            TaskResult(
                episode=episode,
                attempt=attempt,
                score=Decimal(int(is_right)),
                success=is_right,
                failure_type="" if is_right else "numeric_or_state_error",
                ending=Ending.FINISHED,
                seconds=1.5,
                tokens=(USUAL + 137 * at) // (20 if is_refused else 1),
                grader_version="1",
                graded_at=clock.now(),
            )
        )
    Attempt.objects.bulk_create(tries)
    TaskResult.objects.bulk_create(results)


def _number(episode: Episode) -> int:
    """Of the task in its domain."""
    return int(episode.task.slug.rpartition("-")[2])


def _running(submission: Submission, right: int) -> Submission:
    """As `bring_to` does, with so many public tasks of each domain solved in the preflight."""
    found = bring_to(submission, "preflight")
    _write_public(found, right)
    for run in ("preflight_run", "canary_run"):
        end_run(getattr(found, run))
        advance(found.id)
        found.refresh_from_db()
    assert found.state == "running"
    return found


def _write_public(submission: Submission, right: int) -> None:
    assert submission.preflight_run is not None
    episodes = Episode.objects.filter(run=submission.preflight_run).select_related("task")
    PublicTaskResult.objects.bulk_create(
        [
            PublicTaskResult(
                run=submission.preflight_run,
                task=episode.task,
                task_label=episode.task.slug,
                domain=episode.task.domain,
                run_index=0,
                score=Decimal(int(_number(episode) < right)),
                success=_number(episode) < right,
                ending=Ending.FINISHED,
                seconds=1.0,
                tokens=USUAL,
                grader_version="1",
                graded_at=clock.now(),
                has_output=True,
            )
            for episode in episodes
        ]
    )
