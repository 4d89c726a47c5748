"""Messages are tickets: delivered twice, or lost with all of Redis, they change nothing."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from evaluation.models import Attempt, TaskResult
from tests.live.fleet import Fleet, outcomes

pytestmark = [pytest.mark.serial, pytest.mark.timeout(600)]


@pytest.mark.acceptance("main-job:5")
@pytest.mark.case("G17")
@pytest.mark.case("E26")
@pytest.mark.case("S7")
def test_doubled_tickets_and_an_emptied_redis_change_no_result(make_fleet: Callable[..., Fleet]) -> None:
    fleet = make_fleet(application="tests.live.doubling")
    doubled = fleet.finish(fleet.submit("rule-script"))
    assert Attempt.objects.filter(episode__run=doubled).count() == doubled.total

    emptied = fleet.submit("rule-script")

    def empty_until_half_is_through() -> None:
        if TaskResult.objects.filter(episode__run=emptied).count() < emptied.total // 2:
            fleet.empty_redis()

    fleet.finish(emptied, empty_until_half_is_through)
    assert TaskResult.objects.filter(episode__run=emptied).count() == emptied.total
    assert outcomes(emptied) == outcomes(doubled)
