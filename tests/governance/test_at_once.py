"""Two releases of one lineage at the same instant: one after the other, each knowing what the other was told."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connections

from config import clock
from governance import services
from governance.models import LeakCharge
from submissions.models import Submission
from tests.factories import BY
from tests.governance.test_delivery import bring_on
from tests.governance.test_silences import DOMAINS, opened, rows, write
from tests.submissions import world
from tests.submissions.outcomes import bring_to

ROUNDS = 3


@pytest.mark.serial
@pytest.mark.django_db(transaction=True)
@pytest.mark.acceptance("governance:2")
def test_two_near_duplicates_at_once_are_never_both_told_their_values() -> None:
    """They differ on one task of each domain: whoever got eight values could subtract four from four."""
    version = opened()
    for number in range(ROUNDS):
        vendor = world.vendor()
        pair = []
        for which, changed in enumerate((range(0), range(1))):
            found = bring_to(vendor.submit(version, vendor.harness(f"h{number}{which}")), "running")
            write(found, changed=dict.fromkeys(DOMAINS, changed))
            pair.append(bring_on(found))
        at_once(pair)
        told = [{reason for _, reason in rows(found).values()} for found in pair]
        assert sorted(told, key=sorted) == [{""}, {"near_duplicate"}]
        charges = LeakCharge.objects.filter(submission__in=pair)
        assert [row.millibits for row in charges] == [26_633]


def at_once(pair: list[Submission]) -> None:
    """Release each in a thread and connection of its own, both past their tick."""
    gate, at = threading.Barrier(len(pair)), clock.now() + timedelta(seconds=6)

    def run(found: Submission) -> None:
        try:
            with clock.frozen(at):
                gate.wait()
                assert services.release_result(found, by=BY)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(len(pair)) as pool:
        for done in [pool.submit(run, found) for found in pair]:
            done.result(60)
