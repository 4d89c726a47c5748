"""Two lineages that each had budget left have none together, from the next look on."""

from __future__ import annotations

from datetime import timedelta

import pytest

from accounts.duties.table import Duty
from accounts.linking import services as linking
from config import clock
from governance import leaks
from governance.tasks import budgets
from submissions.models import AdmissionStop
from tests.accounts.duties import acting, opened
from tests.factories import BY
from tests.governance.test_silences import answer, limit
from tests.governance.test_silences import opened as version_opened
from tests.submissions import world

pytestmark = pytest.mark.django_db


@pytest.mark.acceptance("governance:2")
def test_linked_accounts_are_looked_at_together() -> None:
    version = version_opened()
    limit(version, 60_000)
    one, other = world.vendor(), world.vendor()
    office = opened()
    first, second = (acting(office.holder(Duty.IDENTITY_REVIEWER)) for _ in range(2))
    with clock.shifted(timedelta(seconds=2)):
        for vendor in (one, other):
            answer(vendor, version)
        budgets()
        assert not AdmissionStop.objects.exists()
        pair = (one.organisation.lineage_id, other.organisation.lineage_id)
        case = linking.raise_case(*pair, [("package", "x")], by=BY)
        assert case is not None
        linking.propose(case, verdict="link", reason="one owner in both registers", by=first)
        linking.decide(case, by=second)
        budgets()
        budgets()
    stop = AdmissionStop.objects.get()
    assert (stop.cause, stop.lineage_id) == ("leak_budget_spent", case.into_id)
    assert stop.lineage_id is not None
    assert leaks.spent(version, stop.lineage_id) == 2 * 26_633
