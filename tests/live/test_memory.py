"""A worker's memory does not grow with what it has run."""

from __future__ import annotations

from collections.abc import Callable

import psutil
import pytest

from evaluation.models import Episode
from tests.live.fleet import EXECUTORS, Fleet
from tests.live.upheaval import cut

pytestmark = [pytest.mark.serial, pytest.mark.slow]

EPISODES, SHARE = 2000, 0.10


@pytest.mark.acceptance("fleet:7")
@pytest.mark.timeout(1200)
def test_memory_stays_flat_over_two_thousand_episodes(
    make_fleet: Callable[..., Fleet], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.live.fleet.PATIENCE", 900.0)
    fleet = make_fleet()
    run = cut(fleet, EPISODES, command=("true",))
    names = (*EXECUTORS, "grade-1")
    processes = {name: psutil.Process(fleet.supervisor.pid(name)) for name in names}
    warm: dict[str, int] = {}
    most = dict.fromkeys(names, 0)

    def look() -> None:
        if not warm and Episode.objects.filter(run=run, state="graded").count() < EPISODES // 5:
            return
        for name, process in processes.items():
            size = process.memory_info().rss
            warm.setdefault(name, size)
            most[name] = max(most[name], size)

    fleet.finish(run, meanwhile=look)
    growth = {name: most[name] / warm[name] - 1 for name in names}
    print({name: f"{warm[name] / 2**20:.0f} MiB, +{growth[name]:.1%}" for name in names})
    assert all(value <= SHARE for value in growth.values()), growth
    assert all(fleet.supervisor.deaths(name) == 0 for name in names)
