"""Claims on episodes: fenced, exactly once, fair across runs, retried after faults of ours and of nothing else."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError, transaction

from benchmark.models import TaskSetVersion
from config import clock
from evaluation import claims, queries, services
from evaluation.claims import Claim, ExecutionClaim, Finish
from evaluation.models import Attempt, Ending, Episode, EvaluationRun, TaskResult
from tests.factories import BY, frozen_version, run_of
from tests.submissions import world
from tests.submissions.outcomes import bring_to

pytestmark = pytest.mark.django_db

ONE = {"general": (1, 1)}
FINISHED = Finish(
    ending=Ending.FINISHED, exit_code=0, seconds=1.0, artefact_key="a", artefact_sha256="0" * 64
)
FAULT = Finish(ending=Ending.INFRASTRUCTURE_FAULT, cause="store_or_disk")


def grade(claim: Claim) -> bool:
    def write() -> None:
        TaskResult.objects.create(
            episode_id=claim.episode_id,
            attempt_id=claim.attempt_id,
            score="1",
            success=True,
            ending=Ending.FINISHED,
            seconds=1.0,
            grader_version="1",
            graded_at=clock.now(),
        )

    return claims.finish_grading(claim, write)


def taken() -> ExecutionClaim:
    claim = claims.claim_execution("w")
    assert claim is not None
    return claim


def test_every_episode_is_claimed_once() -> None:
    run = run_of(frozen_version("8.1"), runs_per_task=2)
    seen = Counter(claim.episode_id for claim in iter(lambda: claims.claim_execution("w"), None))
    assert len(seen) == run.total == 24
    assert set(seen.values()) == {1}


def test_an_episode_goes_through_execution_and_grading_to_the_end_of_its_run() -> None:
    run = run_of(frozen_version("8.2", ONE))
    claim = taken()
    assert claims.finish_attempt(claim, FINISHED, by=BY)
    assert services.settle_run(run.id) == EvaluationRun.State.GRADING
    grading = claims.claim_grading("g")
    assert grading is not None
    assert grading.attempt_id == claim.attempt_id
    assert grade(grading)
    assert services.settle_run(run.id) == EvaluationRun.State.ENDED
    run.refresh_from_db()
    assert (run.missing, run.quarter) == (0, 75)


def test_a_second_writer_changes_nothing() -> None:
    run_of(frozen_version("8.3", ONE))
    claim = taken()
    assert claims.finish_attempt(claim, FINISHED, by=BY)
    assert not claims.finish_attempt(claim, FAULT, by=BY)
    assert Attempt.objects.get(pk=claim.attempt_id).ending == Ending.FINISHED
    grading = claims.claim_grading("g")
    assert grading is not None
    assert grade(grading)
    assert not grade(grading)
    assert TaskResult.objects.count() == 1


@pytest.mark.case("S36")
def test_a_worker_that_slept_past_its_lease_writes_nothing() -> None:
    run_of(frozen_version("8.4", ONE))
    late = taken()
    with clock.shifted(timedelta(minutes=2)):
        assert claims.reap(by=BY) == 1
        again = taken()
        assert again.episode_id == late.episode_id
        claims.renew([late])
        assert not claims.finish_attempt(late, FINISHED, by=BY)
        assert claims.finish_attempt(again, FINISHED, by=BY)
    endings = list(Attempt.objects.order_by("number").values_list("number", "ending", "cause"))
    assert endings == [(1, "infrastructure_fault", "worker_lost"), (2, "finished", "")]


def test_a_renewed_lease_is_not_reaped() -> None:
    run_of(frozen_version("8.5", ONE))
    claim = taken()
    with clock.shifted(timedelta(seconds=50)):
        claims.renew([claim])
    with clock.shifted(timedelta(seconds=70)):
        assert claims.reap(by=BY) == 0


def test_faults_of_ours_give_two_further_attempts_and_no_more() -> None:
    run = run_of(frozen_version("8.6", ONE))
    for _ in range(3):
        claims.finish_attempt(taken(), FAULT, by=BY)
    assert claims.claim_execution("w") is None
    assert services.settle_run(run.id) == EvaluationRun.State.ENDED
    run.refresh_from_db()
    assert run.missing == 1
    assert Attempt.objects.filter(episode__run=run).count() == 3


@pytest.mark.case("H16")
@pytest.mark.parametrize("ending", [Ending.CRASHED, Ending.BUDGET_EXHAUSTED, Ending.LIMIT_EXCEEDED])
def test_a_harness_that_fails_gets_no_further_attempt(ending: str) -> None:
    run_of(frozen_version("8.7", ONE))
    claims.finish_attempt(taken(), Finish(ending=ending, artefact_key="a"), by=BY)
    assert claims.claim_execution("w") is None


@pytest.mark.case("H13")
def test_rerunning_what_is_missing_leaves_valid_results_alone() -> None:
    run = run_of(frozen_version("8.8", {"general": (1, 2)}))
    good = taken()
    claims.finish_attempt(good, FINISHED, by=BY)
    grading = claims.claim_grading("g")
    assert grading is not None
    grade(grading)
    for _ in range(3):
        claims.finish_attempt(taken(), FAULT, by=BY)
    services.settle_run(run.id)
    assert services.rerun_missing(run, by=BY) == 1
    again = taken()
    assert again.episode_id != good.episode_id
    assert again.attempt_number == 4
    assert TaskResult.objects.get().episode_id == good.episode_id


def test_a_grader_fault_is_graded_again_then_unavailable() -> None:
    run = run_of(frozen_version("8.9", ONE))
    claims.finish_attempt(taken(), FINISHED, by=BY)
    for _ in range(3):
        grading = claims.claim_grading("g")
        assert grading is not None
        claims.fail_grading(grading)
    assert claims.claim_grading("g") is None
    services.settle_run(run.id)
    run.refresh_from_db()
    assert (run.state, run.missing) == (EvaluationRun.State.ENDED, 1)


@pytest.mark.case("E29")
@pytest.mark.case("S10")
@pytest.mark.parametrize("workers", [1, 2, 5])
def test_a_second_run_is_served_within_the_fair_share_bound(workers: int) -> None:
    version = frozen_version("8.10", {"general": (1, 40)})
    first = run_of(version)
    held = [taken() for _ in range(workers)]
    second = run_of(version)
    order = []
    for _ in range(workers + 2):
        claims.finish_attempt(held.pop(0), FINISHED, by=BY)
        held.append(taken())
        order.append(held[-1].run_id)
    before = order.index(second.id)
    assert before <= workers + 1
    assert first.id in order


@pytest.mark.acceptance("fleet:4")
@pytest.mark.case("E29")
def test_fifty_submissions_of_one_vendor_keep_nobody_waiting_beyond_the_bound() -> None:
    """Each submitted, checked and queued by the services, quota and in-flight rows raised."""
    version = world.task_set(profile="demo", line=99, lineage=99, account=99, in_flight=99, preflight=99)
    many, one, workers = world.vendor(), world.vendor(), 4
    first = {_waiting(many, version, f"h-{number}").id for number in range(50)}
    held = [taken() for _ in range(workers)]
    second, order = _waiting(one, version, "single").id, []
    for _ in range(2 * (workers + 2)):
        claims.finish_attempt(held.pop(0), FINISHED, by=BY)
        held.append(taken())
        order.append(held[-1].run_id)
    before, share = order.index(second), order.count(second) / len(order)
    print(
        f"{workers} workers, 50 submissions queued: {before} claims before the other's first, then {share:.0%}"
    )
    assert before <= workers + 1
    assert 0.3 <= share <= 0.7
    assert set(order) <= first | {second}


def _waiting(vendor: world.Vendor, version: TaskSetVersion, name: str) -> EvaluationRun:
    """The preflight of a submission just admitted and checked."""
    run = bring_to(vendor.submit(version, vendor.harness(name)), "preflight").preflight_run
    assert run is not None
    return run


def test_cancelling_stops_what_is_under_way() -> None:
    run = run_of(frozen_version("8.11"))
    claim = taken()
    services.cancel_run(run, by=BY)
    assert claims.claim_execution("w") is None
    assert not claims.finish_attempt(claim, FINISHED, by=BY)
    assert set(Episode.objects.values_list("state", flat=True)) == {Episode.State.CANCELLED}


def test_order_and_ids_are_new_in_each_run() -> None:
    version = frozen_version("8.12", {"general": (1, 40)})
    orders = [
        list(
            Episode.objects.filter(run=run_of(version)).order_by("position").values_list("task_id", flat=True)
        )
        for _ in range(2)
    ]
    assert sorted(orders[0]) == sorted(orders[1])
    assert orders[0] != orders[1]


def test_groups_of_the_kinds_of_run() -> None:
    version = frozen_version("8.13")
    groups = {
        kind: set(Episode.objects.filter(run=run_of(version, kind)).values_list("task__group", flat=True))
        for kind in EvaluationRun.Kind.values
    }
    assert groups == {"preflight": {"public"}, "canary": {"public"}, "held_out": {"held_out"}}


@pytest.mark.parametrize(
    ("graded", "quarter"), [(0, 0), (24, 0), (25, 25), (49, 25), (50, 50), (74, 50), (75, 75), (100, 75)]
)
def test_progress_is_coarse(graded: int, quarter: int) -> None:
    assert queries.quarter_of(Counter({"graded": graded}), 100) == quarter


def test_seeds_differ_by_run_index_and_submission() -> None:
    seeds = {services.episode_seed(secret, "task", index) for secret in (b"a", b"b") for index in range(3)}
    assert len(seeds) == 6
    assert all(0 <= seed < 2**63 for seed in seeds)


def test_progress_moves_on_ticks_only(settings: Any) -> None:
    settings.PROGRESS_TICK_SECONDS = 900
    run = run_of(frozen_version("8.14", {"general": (1, 4)}))
    for _ in range(2):
        claims.finish_attempt(taken(), FINISHED, by=BY)
        grading = claims.claim_grading("g")
        assert grading is not None
        grade(grading)
    services.settle_run(run.id)
    run.refresh_from_db()
    assert run.quarter == 0
    with clock.shifted(timedelta(seconds=900)):
        services.settle_run(run.id)
    run.refresh_from_db()
    assert run.quarter == 50


def test_output_that_is_shown_is_never_made_beside_a_held_out_run() -> None:
    version = frozen_version("8.15", {"general": (2, 2)})
    preflight = run_of(version, EvaluationRun.Kind.PREFLIGHT)
    held_out = run_of(version)
    first = claims.claim_execution("w", "kernel")
    assert first is not None
    assert first.run_id == preflight.id
    with pytest.raises(claims.KernelTaken):
        claims.claim_execution("w", "kernel")
    elsewhere = claims.claim_execution("w", "another kernel")
    assert elsewhere is not None
    assert elsewhere.run_id == held_out.id
    claims.finish_attempt(first, FINISHED, by=BY)
    then = claims.claim_execution("w", "kernel")
    assert then is not None


def test_a_canary_never_runs_beside_a_held_out_run() -> None:
    version = frozen_version("8.16", {"general": (1, 1)})
    run_of(version)
    assert claims.claim_execution("w", "kernel")
    run_of(version, EvaluationRun.Kind.CANARY)
    with pytest.raises(claims.KernelTaken):
        claims.claim_execution("w", "kernel")


def test_grading_serves_runs_in_turn() -> None:
    version = frozen_version("8.17", {"general": (1, 4)})
    runs = [run_of(version), run_of(version)]
    for _ in range(8):
        claims.finish_attempt(taken(), FINISHED, by=BY)
    order = []
    for _ in range(4):
        claim = claims.claim_grading("g")
        assert claim is not None
        order.append(claim.run_id)
        grade(claim)
    assert Counter(order) == {run.id: 2 for run in runs}


@pytest.mark.case("H17")
@pytest.mark.parametrize("same", ["number", "fence"])
def test_a_doubled_attempt_is_refused(same: str) -> None:
    run_of(frozen_version(f"8.18.{same}", ONE))
    claim = taken()
    other = {"number": claim.attempt_number + 1, "fence": claim.fence + 1}
    other[same] -= 1
    with pytest.raises(IntegrityError), transaction.atomic():
        Attempt.objects.create(episode_id=claim.episode_id, worker="w", started_at=clock.now(), **other)
