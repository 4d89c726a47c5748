"""What counts of repeated, foreign and failed work: one valid result for each episode of its own run, and no more."""

from __future__ import annotations

from typing import Any

import pytest

from benchmark.models import TaskRevision
from evaluation import claims, queries, services
from evaluation.claims import Finish
from evaluation.holding import Holding
from evaluation.models import Attempt, Ending, Episode, EvaluationRun, TaskResult
from evaluation.worker import work
from governance.queries import due_for_release
from submissions.models import Submission
from tests.evaluation.test_claims import FAULT, FINISHED, grade, taken
from tests.factories import BY, frozen_version, run_of
from tests.submissions import world
from tests.submissions.outcomes import bring_to

pytestmark = pytest.mark.django_db

ONE, TWO = {"general": (1, 1)}, {"general": (1, 2)}


def graded() -> TaskResult:
    """Execute and grade the next episode."""
    assert claims.finish_attempt(taken(), FINISHED, by=BY)
    claim = claims.claim_grading("g")
    assert claim is not None
    assert grade(claim)
    return TaskResult.objects.latest("graded_at")


@pytest.mark.case("H12")
def test_failing_attempts_change_nothing_of_a_result_that_is_there() -> None:
    run = run_of(frozen_version("wc.1", TWO))
    before = TaskResult.objects.filter(pk=graded().pk).values().get()
    for _ in range(2):
        for claim in iter(lambda: claims.claim_execution("w"), None):
            assert claims.finish_attempt(claim, FAULT, by=BY)
        services.settle_run(run.id)
        services.settle_run(run.id)
        assert services.rerun_missing(EvaluationRun.objects.get(pk=run.pk), by=BY) == 1
    assert TaskResult.objects.values().get() == before
    assert Episode.objects.get(pk=before["episode_id"]).state == Episode.State.GRADED


@pytest.mark.case("G19")
def test_a_result_belongs_to_its_run_whoever_else_has_the_same_package_and_tasks() -> None:
    version = frozen_version("wc.2", ONE)
    first = run_of(version)
    result = graded()
    second = run_of(version)
    assert [row.pk for row in queries.single_results(first)] == [result.pk]
    assert queries.single_results(second) == []
    assert queries.episode_counts(second.id) == {"ready": 1}


@pytest.mark.case("G20")
def test_a_ticket_delivered_again_while_its_episode_runs_starts_nothing(settings: Any) -> None:
    """Tickets are acknowledged as they come, so no time of visibility is shorter than a run; leases decide."""
    assert settings.CELERY["task_acks_late"] is False
    run_of(frozen_version("wc.3", ONE))
    taken()
    looked = []

    def step(holding: Holding) -> bool:
        looked.append(claims.claim_execution("again"))
        return looked[-1] is not None

    assert work(step, Holding(), patience=0.0, pause=lambda: None) is False
    assert set(looked) == {None}
    assert Attempt.objects.count() == 1


@pytest.mark.case("E31")
def test_faults_of_ours_are_tried_again_and_ends_of_the_harness_never() -> None:
    run = run_of(frozen_version("wc.4", TWO))
    assert claims.finish_attempt(taken(), FAULT, by=BY)
    crashed = Finish(ending=Ending.CRASHED, cause="503 rate limit network", exit_code=1, artefact_key="a")
    for claim in iter(lambda: claims.claim_execution("w"), None):
        assert claims.finish_attempt(claim, crashed, by=BY)
    counts = [episode.tries.count() for episode in Episode.objects.filter(run=run).order_by("pk")]
    assert sorted(counts) == [1, 2]
    assert Attempt.objects.filter(ending=Ending.CRASHED).count() == 2
    assert Attempt.objects.filter(ending=Ending.INFRASTRUCTURE_FAULT).count() == 1


@pytest.mark.case("E33")
@pytest.mark.case("E34")
def test_held_out_tasks_of_the_admitted_version_run_once_its_use_is_counted_and_not_before() -> None:
    vendor, version = world.vendor(), world.task_set("wc-a")
    submission = vendor.submit(version, vendor.harness())
    held_out = EvaluationRun.objects.filter(kind=EvaluationRun.Kind.HELD_OUT)
    world.task_set("wc-b")
    bring_to(submission, "queued")
    submission = Submission.objects.get(pk=submission.pk)
    assert (submission.slot.state, held_out.exists()) == ("reserved", False)
    world.end_run(submission.canary_run)
    submission = bring_to_running(submission)
    assert submission.slot.state == "consumed"
    run = held_out.get()
    assert (run.pk, run.version_id) == (submission.held_out_run_id, version.pk)
    tasks = TaskRevision.objects.filter(pk__in=run.episodes.values("task"))
    assert set(tasks.values_list("version", "group")) == {(version.pk, "held_out")}


def bring_to_running(submission: Submission) -> Submission:
    from submissions.services import advance

    assert advance(submission.id) == "running"
    return Submission.objects.get(pk=submission.pk)


@pytest.mark.case("H19")
def test_nothing_is_added_up_while_a_part_of_the_run_is_open_and_what_is_missing_shows_on_the_run() -> None:
    vendor, version = world.vendor(), world.task_set("wc-c")
    submission = bring_to(vendor.submit(version, vendor.harness()), "running")
    run = submission.held_out_run
    assert run is not None
    for _ in range(run.total - 1):
        graded()
    services.settle_run(run.id)
    assert due_for_release() == []
    for claim in iter(lambda: claims.claim_execution("w"), None):
        assert claims.finish_attempt(claim, FAULT, by=BY)
    services.settle_run(run.id)
    services.settle_run(run.id)
    run.refresh_from_db()
    assert (run.state, run.missing) == (EvaluationRun.State.ENDED, 1)
    assert queries.work_of([run])[0].faults == {"store_or_disk": claims.retries() + 1}
