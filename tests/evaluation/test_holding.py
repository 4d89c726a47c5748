"""What a worker lets go of, and when: by its own clock, without asking anybody."""

from __future__ import annotations

import time
from datetime import timedelta
from typing import Any

import pytest
from django.db import transaction

from config import clock
from evaluation import claims, services
from evaluation.claims import ExecutionClaim, Finish
from evaluation.holding import Hold, Holding, Stop
from evaluation.models import Attempt, Ending, Episode, EvaluationRun
from evaluation.watching import Watch
from tests.factories import BY, frozen_version, run_of

pytestmark = pytest.mark.django_db

ONE = {"general": (1, 1)}
TWO = {"general": (1, 2)}
FINISHED = Finish(
    ending=Ending.FINISHED, exit_code=0, seconds=1.0, artefact_key="a", artefact_sha256="0" * 64
)


class Unthreaded(Watch):
    """The same looks, made when the test says so."""

    def __init__(self, holding: Holding) -> None:
        self._worker, self._host, self._holding, self._renewed = "w", "h", holding, 0.0
        self._when_idle = lambda: None

    look_at_clock = Watch._look_at_clock
    ask = Watch._ask


def taken() -> ExecutionClaim:
    claim = claims.claim_execution("w")
    assert claim is not None
    return claim


def test_what_cannot_be_renewed_is_killed_before_its_lease_ends(settings: Any) -> None:
    run_of(frozen_version("ho.1", ONE))
    holding = Holding()
    with holding.hold(taken()) as hold:
        control, watch = hold.control(), Unthreaded(holding)
        watch.look_at_clock()
        assert not control.cancelled
        hold.good_since = time.monotonic() - 0.9 * settings.LEASE_SECONDS
        watch.look_at_clock()
        assert control.cancelled
        assert hold.stopped is Stop.LOST
        assert hold.control().cancelled, "nothing more starts under this claim"


def test_a_void_claim_is_stopped_and_a_renewed_one_is_not() -> None:
    run = run_of(frozen_version("ho.2", TWO))
    holding, keep = Holding(), taken()
    with holding.hold(keep) as kept, holding.hold(taken()) as voided:
        watch = Unthreaded(holding)
        claims.void_attempt(Episode.objects.get(pk=voided.claim.episode_id), by=BY)
        watch.ask()
        assert (kept.stopped, voided.stopped) == (None, Stop.LOST)
        services.cancel_run(run, by=BY)
        watch.ask()
        assert kept.stopped is Stop.LOST


def test_a_leaving_worker_lets_go_after_its_time_and_what_is_lost_is_not_handed_back(settings: Any) -> None:
    settings.DRAIN_SECONDS = 5.0
    run_of(frozen_version("ho.3", ONE))
    holding = Holding()
    with holding.hold(taken()) as hold:
        holding.leave()
        watch = Unthreaded(holding)
        watch.look_at_clock()
        assert hold.stopped is None
        holding.leaving_since = time.monotonic() - 6
        watch.look_at_clock()
        assert hold.stopped is Stop.HAND_BACK
        hold.stop(Stop.LOST)
        assert hold.stopped is Stop.LOST
        assert isinstance(hold, Hold)


def test_handing_back_uses_up_no_attempt_and_stays_in_the_ledger() -> None:
    run_of(frozen_version("ho.4", ONE))
    for number in range(1, 6):
        claim = taken()
        assert (claim.attempts, claim.attempt_number) == (1, number)
        assert claims.hand_back(claim, by=BY)
        assert not claims.hand_back(claim, by=BY)
        assert not claims.finish_attempt(claim, FINISHED, by=BY)
    assert list(Attempt.objects.values_list("cause", flat=True)) == ["handed_back"] * 5
    assert claims.finish_attempt(taken(), FINISHED, by=BY)
    grading = claims.claim_grading("g")
    assert grading is not None
    assert claims.hand_back_grading(grading)
    assert not claims.hand_back_grading(grading)
    again = claims.claim_grading("g")
    assert again is not None
    assert (again.gradings, again.fence > grading.fence) == (1, True)


def test_no_run_and_no_organisation_has_more_under_way_than_the_settings_allow(settings: Any) -> None:
    version = frozen_version("ho.5")
    first = run_of(version)
    second = run_of(version, lineage_id=first.lineage_id)
    other = run_of(version)
    settings.RUN_CEILING, settings.ORGANISATION_CEILING = 2, 3
    made = [claim.run_id for claim in iter(lambda: claims.claim_execution("w"), None)]
    assert made.count(other.id) == 2
    fewer, more = sorted((first, second), key=lambda run: made.count(run.id))
    assert (made.count(fewer.id), made.count(more.id)) == (1, 2)
    services.cancel_run(more, by=BY)
    assert taken().run_id == fewer.id
    assert claims.claim_execution("w") is None


@pytest.mark.case("E22")
def test_reaping_a_dead_attempt_frees_its_place_under_the_ceiling(settings: Any) -> None:
    settings.RUN_CEILING = 1
    run_of(frozen_version("ho.6", TWO))
    taken()
    assert claims.claim_execution("w") is None
    with clock.shifted(timedelta(seconds=2 * settings.LEASE_SECONDS)):
        assert claims.reap(by=BY) == 1
        assert claims.claim_execution("w") is not None


def test_while_too_many_of_a_run_wait_for_a_grader_none_of_it_is_executed(settings: Any) -> None:
    settings.GRADING_BACKLOG = 2
    run = run_of(frozen_version("ho.7"))
    for _ in range(2):
        assert claims.finish_attempt(taken(), FINISHED, by=BY)
    assert claims.claim_execution("w") is None
    other = run_of(frozen_version("ho.8", ONE))
    assert taken().run_id == other.id
    assert claims.claim_grading("g") is not None
    assert taken().run_id == run.id
    assert EvaluationRun.objects.get(pk=run.pk).state == EvaluationRun.State.EXECUTING


def test_a_claim_that_the_database_forgot_is_void_though_another_has_its_fence() -> None:
    """A claim is not waited for on the disk: a crash may take it away, and give its fence again."""
    run_of(frozen_version("ho.9", ONE))
    with transaction.atomic():
        forgotten = taken()
        transaction.set_rollback(True)
    again = taken()
    assert (again.episode_id, again.fence) == (forgotten.episode_id, forgotten.fence)
    assert claims.still_held([forgotten]) == claims.renew([forgotten]) == set()
    assert not claims.finish_attempt(forgotten, FINISHED, by=BY)
    assert not claims.hand_back(forgotten, by=BY)
    assert claims.still_held([again]) == {again.episode_id}
    assert claims.finish_attempt(again, FINISHED, by=BY)
    assert Attempt.objects.get().pk == again.attempt_id
