"""What runs is stopped from outside: by a cancellation, by a worker that leaves, by a worker that is set apart."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import psutil
import pytest

from audit.events import system
from config.ids import new_id
from evaluation import services
from evaluation.fleet import services as orders
from evaluation.models import Attempt, Ending, Episode, EvaluationRun
from tests.factories import BY
from tests.live.fleet import EXECUTORS, Fleet

pytestmark = [pytest.mark.serial, pytest.mark.timeout(300)]

STOPPED_SECONDS = 5.0
OPS = system("operator")


def sleeper(seconds: float) -> tuple[str, ...]:
    """A harness that sleeps, under a name by which its process is found on the host."""
    return ("python3", "-c", f"import time; time.sleep({seconds}) # {new_id().hex}")


def processes_of(command: tuple[str, ...]) -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter():
        try:
            if command[-1] in process.cmdline():
                found.append(process)
        except psutil.Error:
            continue
    return found


def held_by(run: EvaluationRun) -> str:
    """Which worker holds an episode of the run, by its name in the fleet; empty where none does."""
    row = Episode.objects.filter(run=run, state=Episode.State.LEASED).first()
    return row.worker.rsplit("-", 1)[0] if row else ""


@pytest.fixture(scope="module")
def fleet(make_fleet: Callable[..., Fleet]) -> Fleet:
    return make_fleet(LINGEE_DRAIN_SECONDS="6")


@pytest.fixture
def start(fleet: Fleet) -> Iterator[Callable[[tuple[str, ...]], EvaluationRun]]:
    """A run whose first episodes are under way; cancelled after the test."""
    made = []

    def submit(command: tuple[str, ...], **more: Any) -> EvaluationRun:
        made.append(fleet.submit("rule-script", command=command, **more))
        assert fleet.wait(lambda: bool(processes_of(command))), fleet.trouble(made[-1])
        return made[-1]

    yield submit
    for run in made:
        services.cancel_run(run, by=BY)


def test_a_cancelled_run_is_killed_within_five_seconds_and_its_attempts_say_so(
    fleet: Fleet, start: Callable[..., EvaluationRun]
) -> None:
    command = sleeper(250)
    run = start(command)
    services.cancel_run(run, by=BY)
    since = time.monotonic()
    assert fleet.wait(lambda: not processes_of(command), STOPPED_SECONDS)
    print(f"killed after {time.monotonic() - since:.1f} s")
    attempts = Attempt.objects.filter(episode__run=run)
    assert set(attempts.values_list("ending", "cause")) == {(Ending.CANCELLED, "run_cancelled")}
    assert not attempts.filter(ended_at=None).exists()
    assert set(Episode.objects.filter(run=run).values_list("state", flat=True)) == {"cancelled"}
    after = fleet.finish(fleet.submit("rule-script", kind=EvaluationRun.Kind.CANARY, sample=1))
    assert after.missing == 0, "the workers go on"


def test_a_worker_that_is_asked_to_end_hands_back_what_it_cannot_finish(
    fleet: Fleet, start: Callable[..., EvaluationRun]
) -> None:
    command = sleeper(250)
    run = start(command)
    assert fleet.wait(lambda: held_by(run) in EXECUTORS)
    name = held_by(run)
    gone = psutil.Process(fleet.supervisor.pid(name))
    fleet.ask_to_end(name)
    assert fleet.wait(lambda: not gone.is_running() or gone.status() == psutil.STATUS_ZOMBIE, 60)
    back = Attempt.objects.get(episode__run=run, cause="handed_back")
    assert (back.ending, back.number) == (Ending.INFRASTRUCTURE_FAULT, 1)
    episode = Episode.objects.get(pk=back.episode_id)
    live = Attempt.objects.filter(episode=episode, ended_at=None).count()
    assert episode.attempts == live, "what was handed back uses up no attempt"
    assert episode.fence > back.fence


def test_what_a_worker_can_finish_after_it_was_asked_to_end_it_finishes(fleet: Fleet) -> None:
    run = fleet.submit("rule-script", command=sleeper(1), kind=EvaluationRun.Kind.CANARY, sample=1)
    assert fleet.wait(lambda: bool(held_by(run))), fleet.trouble(run)
    fleet.ask_to_end(held_by(run))
    assert fleet.wait(lambda: Attempt.objects.filter(episode__run=run, ending=Ending.FINISHED).exists())
    assert Attempt.objects.get(episode__run=run).number == 1


@pytest.mark.slow
def test_what_a_worker_in_quarantine_holds_goes_to_others_at_once(
    fleet: Fleet, start: Callable[..., EvaluationRun]
) -> None:
    command = sleeper(250)
    run = start(command)
    row = Episode.objects.filter(run=run, state=Episode.State.LEASED).first()
    assert row is not None
    order = orders.order_fleet("quarantine", "worker", row.worker, reason="it lies", by=OPS)
    back = Attempt.objects.filter(episode__run=run, cause="handed_back", worker=row.worker)
    assert fleet.wait(back.exists, 30), fleet.trouble(run)
    again = Episode.objects.filter(run=run, worker=row.worker, state=Episode.State.LEASED)
    time.sleep(2)
    assert not again.exists()
    orders.lift_fleet_order(order.pk, reason="mended", by=OPS)
