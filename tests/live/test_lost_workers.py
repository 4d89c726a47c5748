"""Workers are killed while they hold episodes: nothing is lost, nothing is counted twice, the results are the same."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import cycle

import pytest

from evaluation.models import Attempt, Ending, Episode, TaskResult
from tests.live.fleet import EXECUTORS, Fleet, outcomes

pytestmark = [pytest.mark.serial, pytest.mark.timeout(600)]

# Long enough to be caught holding a lease, without using the processor.
SLOWLY = "import runpy, time; time.sleep(0.4); runpy.run_path('/harness/run.py', run_name='__main__')"
SLOW = ("python3", "-c", SLOWLY)


def holds_a_lease(name: str, dead: set[str]) -> str:
    """The id of the living incarnation of that worker, where it holds a lease now; else nothing."""
    held = Episode.objects.filter(state=Episode.State.LEASED, worker__startswith=f"{name}-")
    return next(iter(set(held.values_list("worker", flat=True)) - dead), "")


def caught(name: str, dead: set[str]) -> bool:
    return bool(holds_a_lease(name, dead))


@pytest.mark.acceptance("main-job:4")
@pytest.mark.case("H11")
@pytest.mark.case("S3")
@pytest.mark.parametrize("kills", [3, pytest.param(10, marks=pytest.mark.slow)])
def test_killed_workers_change_no_result(make_fleet: Callable[..., Fleet], kills: int) -> None:
    fleet = make_fleet(LINGEE_LEASE_SECONDS="3")
    disturbed = fleet.submit("rule-script", command=SLOW)
    dead: set[str] = set()
    for number, name in zip(range(kills), cycle(EXECUTORS), strict=False):
        found = fleet.wait(partial(caught, name, dead))
        assert found, f"kill {number}: {fleet.trouble(disturbed)}"
        dead.add(holds_a_lease(name, dead))
        fleet.kill(name)
    fleet.finish(disturbed)
    undisturbed = fleet.finish(fleet.submit("rule-script"))

    lost = Attempt.objects.filter(episode__run=disturbed, ending=Ending.INFRASTRUCTURE_FAULT)
    assert lost.filter(cause="worker_lost").count() >= kills
    assert Attempt.objects.filter(episode__run=disturbed, number=2).count() >= kills
    assert TaskResult.objects.filter(episode__run=disturbed).count() == disturbed.total
    assert disturbed.missing == 0
    assert outcomes(disturbed) == outcomes(undisturbed)
