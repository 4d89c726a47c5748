"""What enters the queue by itself, and what comes back after two people dismissed it."""

from __future__ import annotations

from typing import Any

import pytest

from benchmark.models import TaskRevision, TaskSetVersion
from governance.rotation import intake, services
from governance.rotation.models import RotationEntry
from governance.tasks import rotate
from governance.watch.exposure import TaskExposure
from tests.accounts.duties import acting
from tests.factories import BY, frozen_version
from tests.governance.rotation import rows
from tests.governance.rotation.test_queue import WHY

pytestmark = pytest.mark.django_db(transaction=True)


def exposed(task: TaskRevision, **facts: Any) -> TaskExposure:
    nothing: dict[str, Any] = {"bits": 0.0, "gate_bits": 0.0, "score": 0.0, "is_memorised": False}
    nothing |= {"submissions": 0, "organisations": 0, "providers": 0}
    return TaskExposure(task_id=task.pk, slug=task.slug, domain=task.domain, **(nothing | facts))


@pytest.fixture
def version() -> TaskSetVersion:
    return frozen_version("9.0")


@pytest.fixture
def known(version: TaskSetVersion, monkeypatch: pytest.MonkeyPatch) -> list[TaskExposure]:
    """What live detection says, to be changed by the test."""
    found = [exposed(task) for task in rows.held_out(version)]
    monkeypatch.setattr(intake, "exposure", lambda _task_set: list(found))
    return found


def test_the_rules_put_tasks_into_the_queue_once(version: TaskSetVersion, known: list[TaskExposure]) -> None:
    tasks = rows.held_out(version)
    known[0] = exposed(tasks[0], gate_bits=1.0, bits=1.5, score=4.0)
    known[1] = exposed(tasks[1], bits=3.2)
    known[2] = exposed(tasks[2], organisations=3)
    known[3] = exposed(tasks[3], bits=2.9, gate_bits=0.9, organisations=2)
    rotate()
    rotate()
    found = {row.task_id: row for row in RotationEntry.objects.all()}
    assert {key: row.cause for key, row in found.items()} == {
        tasks[0].pk: "gate_bits",
        tasks[1].pk: "all_bits",
        tasks[2].pk: "content",
    }
    assert found[tasks[0].pk].score == 4.0
    assert found[tasks[0].pk].evidence["gate"] == 1.0


def test_a_false_alarm_comes_back_only_with_more(version: TaskSetVersion, known: list[TaskExposure]) -> None:
    one, two = rows.governors()
    task = rows.held_out(version)[0]
    known[0] = exposed(task, gate_bits=1.0, bits=1.0)
    assert intake.take_in(version, by=BY) == 1
    entry = RotationEntry.objects.get()
    services.suggest(entry.pk, verdict="false_alarm", reason=WHY, by=acting(one))
    services.confirm(entry.pk, by=acting(two))
    known[0] = exposed(task, gate_bits=1.9, bits=1.9)
    assert intake.take_in(version, by=BY) == 0
    known[0] = exposed(task, gate_bits=2.0, bits=2.0)
    assert intake.take_in(version, by=BY) == 1
    assert RotationEntry.objects.filter(task=task).count() == 2


def test_unexposed_is_what_no_answer_told_of(version: TaskSetVersion, known: list[TaskExposure]) -> None:
    tasks = rows.held_out(version)
    known[0] = exposed(tasks[0], bits=0.01)
    known[1] = exposed(tasks[1], organisations=1)
    assert intake.unexposed(version) == {str(task.pk) for task in tasks[2:]}
