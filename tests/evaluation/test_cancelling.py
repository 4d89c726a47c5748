"""A run is cancelled while a worker claims: whatever comes first, no attempt is left without an end."""

from __future__ import annotations

import threading

import pytest
from django.db import connection, transaction

from audit.events import system
from evaluation import claims, services
from evaluation.models import Attempt, Ending, Episode
from tests.factories import frozen_version, run_of

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.acceptance("fleet:1")
@pytest.mark.case("E22")
def test_an_attempt_that_was_claimed_while_its_run_was_cancelled_has_an_end() -> None:
    run = run_of(frozen_version("8.30", {"general": (1, 3)}))
    claimed, go = threading.Event(), threading.Event()

    def claim() -> None:
        with transaction.atomic():
            assert claims.claim_execution("w") is not None
            claimed.set()
            assert go.wait(30)
        connection.close()

    def cancel() -> None:
        services.cancel_run(run, by=system("test"))
        connection.close()

    threads = [threading.Thread(target=claim), threading.Thread(target=cancel)]
    threads[0].start()
    assert claimed.wait(30)
    threads[1].start()
    threads[1].join(1)
    assert threads[1].is_alive(), "it waits for the episode that is being claimed"
    go.set()
    for thread in threads:
        thread.join(30)
    attempt = Attempt.objects.get(episode__run=run)
    assert (attempt.ending, attempt.cause) == (Ending.CANCELLED, claims.RUN_CANCELLED)
    assert attempt.ended_at is not None
    assert set(Episode.objects.filter(run=run).values_list("state", flat=True)) == {"cancelled"}
