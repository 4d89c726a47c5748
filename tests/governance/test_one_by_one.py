"""A tick serves everybody: what fails for one submission or appeal keeps no other waiting, and is not passed over."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from config import clock
from governance import services
from governance.appeals import services as appealing
from governance.appeals import tasks as appeals
from governance.appeals.models import Appeal
from governance.models import Release
from governance.tasks import tick
from submissions.models import Submission
from tests.governance.analysing import evaluated, version_of_three
from tests.governance.appeals.arranged import bench, filed, released, ruled
from tests.pages import site
from tests.submissions import world

pytestmark = pytest.mark.django_db


def broken_for(which: object, real: Any) -> Any:
    """The same function, which dies for one of its subjects."""

    def act(subject: Any, **how: Any) -> Any:
        if which in (subject, getattr(subject, "pk", None)):
            raise RuntimeError("broken")
        return real(subject, **how)

    return act


def test_one_result_that_cannot_be_released_stops_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    version, vendor = version_of_three(), world.vendor()
    first, second = (evaluated(vendor, version, vendor.harness(name)) for name in ("one", "two"))
    monkeypatch.setattr(services, "_release", broken_for(first.pk, services._release))
    with clock.shifted(timedelta(seconds=6)), pytest.raises(ExceptionGroup, match="steps of a tick"):
        tick()
    assert list(Release.objects.values_list("submission", flat=True)) == [second.pk]
    assert Submission.objects.get(pk=first.pk).state == "grading"


def test_one_ruling_that_cannot_be_carried_out_stops_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    version, staff = site.task_set(), bench()
    rows = []
    for _ in range(2):
        vendor = world.vendor()
        rows.append(ruled(filed(vendor, version, submission=released(vendor, version)), staff))
    monkeypatch.setattr(appealing, "carry_out", broken_for(rows[0].pk, appealing.carry_out))
    with pytest.raises(ExceptionGroup, match="steps of a tick"):
        appeals.tick()
    assert [Appeal.objects.get(pk=row.pk).state for row in rows] == ["ruled", "carried_out"]
