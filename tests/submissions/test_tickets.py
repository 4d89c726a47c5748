"""Messages follow the row: none after a rollback, and a broker that is gone costs a request nothing but time."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from typing import Any

import pytest
from celery import Celery
from django.conf import settings
from django.db import transaction

from benchmark.models import TaskSetVersion
from submissions import services, tickets
from submissions.models import Harness, Submission
from tests.submissions import world
from tests.submissions.world import Vendor


@pytest.fixture
def sent(monkeypatch: Any) -> list[tuple[str, tuple[str, ...], str]]:
    """What would go to the broker."""
    found: list[tuple[str, tuple[str, ...], str]] = []

    def take(task: str, *ids: str, queue: str) -> bool:
        found.append((task, ids, queue))
        return True

    monkeypatch.setattr("config.celery.send_ticket", take)
    return found


@pytest.mark.case("S16")
@pytest.mark.acceptance("log:8")
@pytest.mark.django_db(transaction=True)
def test_a_commit_sends_one_and_a_rollback_none(sent: list[Any]) -> None:
    vendor, task_set = world.vendor(), world.task_set(in_flight=9)
    harness = vendor.harness()
    submission = vendor.submit(task_set, harness)
    assert sent == [("submissions.tasks.check", (str(submission.id),), "governance")]
    order = vendor.order(task_set, harness)
    with transaction.atomic():
        services.submit(order, by=vendor.actor, key="rolled-back")
        transaction.set_rollback(True)
    assert len(sent) == 1
    assert Submission.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_refusal_sends_nothing(sent: list[Any]) -> None:
    vendor, task_set = world.vendor(), world.task_set(line=0)
    harness = vendor.harness()
    answer = vendor.api.post("submissions", world.body_of(vendor.order(task_set, harness)))
    assert answer.code == "quota_line"
    assert sent == []


def test_every_ticket_has_its_queue() -> None:
    from config.settings.queues import QUEUE_NAMES

    assert set(tickets.QUEUES.values()) <= set(QUEUE_NAMES)


@pytest.fixture
def black_hole(servers: Any, monkeypatch: Any) -> Iterator[None]:
    """A broker that takes connections and never says a word."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(1)
        deaf = Celery("deaf", set_as_current=False)
        deaf.config_from_object(
            {**settings.CELERY, "broker_url": f"redis://127.0.0.1:{listener.getsockname()[1]}/0"}
        )
        monkeypatch.setattr("config.celery.app", deaf)
        yield


@pytest.mark.case("S17")
@pytest.mark.serial
@pytest.mark.django_db(transaction=True)
def test_a_black_holed_broker_costs_two_seconds_and_the_sweep_recovers(black_hole: None) -> None:
    vendor, task_set = world.vendor(), world.task_set()
    body = world.body_of(vendor.order(task_set, vendor.harness()))
    started = time.monotonic()
    answer = vendor.api.post("submissions", body)
    assert answer.status == 202
    assert time.monotonic() - started < 3
    assert Submission.objects.get().state == "created"


@pytest.mark.django_db
def test_the_sweep_takes_up_what_a_lost_ticket_left(
    vendor: Vendor,
    harness: Harness,
    task_set: TaskSetVersion,
    sent: list[Any],
    django_capture_on_commit_callbacks: Any,
) -> None:
    submission = vendor.submit(task_set, harness)
    with django_capture_on_commit_callbacks(execute=True):
        services.sweep()
    assert ("submissions.tasks.check", (str(submission.id),), "governance") in sent
