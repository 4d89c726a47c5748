"""Two workers at once: a retired task is named once, and a task enters the queue once."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connections, transaction

from governance.records import adding
from governance.records.models import ChangeLogLine
from governance.rotation import intake, services
from governance.rotation.models import RotationEntry
from tests.accounts.duties import acting
from tests.factories import BY, frozen_version
from tests.governance.rotation import rows
from tests.governance.rotation.test_intake import exposed
from tests.governance.rotation.test_queue import WHY

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.serial]
WORKERS = 3


def at_once(act: Callable[[], int]) -> list[int]:
    """What each of the workers did, all begun at the same instant."""
    gate = threading.Barrier(WORKERS)

    def run() -> int:
        try:
            gate.wait()
            return act()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(WORKERS) as pool:
        return [done.result(60) for done in [pool.submit(run) for _ in range(WORKERS)]]


def test_a_retired_task_is_named_once(monkeypatch: pytest.MonkeyPatch) -> None:
    version, (one, two) = frozen_version("9.0"), rows.governors()
    for task in rows.held_out(version)[:3]:
        entry = rows.queued(version, task)
        services.suggest(entry.pk, verdict="retire", ground="outdated", reason=WHY, by=acting(one))
        services.confirm(entry.pk, by=acting(two))
        with transaction.atomic():
            services.leave(RotationEntry.objects.select_for_update().get(pk=entry.pk), by=BY)
    for module in (intake, adding):  # the version that held them out is closed
        monkeypatch.setattr(module, "open_versions", list)
    assert sorted(at_once(lambda: intake.say_retirements(by=BY))) == [0, 0, 3]
    assert ChangeLogLine.objects.filter(kind="retirement").count() == 3


def test_a_task_enters_the_queue_once_and_no_worker_stumbles(monkeypatch: pytest.MonkeyPatch) -> None:
    version = frozen_version("9.0")
    found = [exposed(task, gate_bits=1.0, bits=1.5, score=4.0) for task in rows.held_out(version)]
    monkeypatch.setattr(intake, "exposure", lambda _task_set: list(found))
    assert sum(at_once(lambda: intake.take_in(version, by=BY))) == len(found)
    assert RotationEntry.objects.count() == len(found)
