"""Levels fitted to what happened on a version: without whoever is accused, with whoever was accused falsely."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from accounts.duties.table import Duty
from audit.events import system
from governance.desk import cases, queries
from tests.accounts.duties import acting, opened
from tests.governance.analysing import evaluated, ticked, version_of_three
from tests.governance.desk.arranged import alarm
from tests.submissions import world

pytestmark = pytest.mark.django_db(transaction=True)


def lineages(folder: Path) -> int:
    file = folder / "levels.json"
    call_command("governance", "calibrate", "--task-set", "w1", "--out", str(file))
    found = json.loads(file.read_text(encoding="utf-8"))["record"]
    assert found["streams"] == ["version w1"]
    return int(found["lineages"])


def test_lineages_in_alarm_teach_nothing_until_the_alarm_is_found_false(tmp_path: Path) -> None:
    version = version_of_three()
    for _ in range(2):
        vendor = world.vendor()
        accused = ticked(evaluated(vendor, version, vendor.harness()))
    assert lineages(tmp_path) == 2
    alarm(accused, "review", "toggle")
    assert lineages(tmp_path) == 1
    cases.group_alarms(by=system("desk"))
    (case,) = queries.cases_for_staff()
    governor = opened().holder(Duty.HELD_OUT_GOVERNOR)
    cases.call_false_alarm(case.id, reason="a changed seed", by=acting(governor))
    assert lineages(tmp_path) == 2


def test_something_to_learn_from_is_due(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="name a stream, a version or a number of worlds"):
        call_command("governance", "calibrate", "--out", str(tmp_path / "levels.json"))
