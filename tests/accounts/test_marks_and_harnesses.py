"""An organisation that becomes an auditor while it registers a harness ends as one of the two."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection

from accounts.auditor_refusals import AuditorRefused
from accounts.auditors import mark_audit_organisation
from accounts.models import AuditOrganisation
from submissions.models import Harness
from submissions.problems import Refused
from submissions.services import register_harness
from tests.submissions import world

ROUNDS = 8


@pytest.mark.django_db(transaction=True)
def test_marked_or_registered_never_both() -> None:
    for number in range(ROUNDS):
        vendor = world.vendor()
        gate = threading.Barrier(2)

        def register(vendor: world.Vendor = vendor, number: int = number) -> None:
            register_harness(
                vendor.organisation, name=f"h-{number}", title="", relation="owner", by=vendor.actor
            )

        def mark(vendor: world.Vendor = vendor) -> None:
            mark_audit_organisation(vendor.organisation, by=world.BY)

        _both(gate, register, mark)
        audits = AuditOrganisation.objects.filter(organisation=vendor.organisation).exists()
        assert audits != Harness.objects.filter(organisation=vendor.organisation).exists()


def _both(gate: threading.Barrier, *works: Callable[[], Any]) -> None:
    faults: list[BaseException] = []

    def run(work: Callable[[], Any]) -> None:
        try:
            gate.wait()
            work()
        except (AuditorRefused, Refused):
            pass
        except BaseException as error:
            faults.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=[work]) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
