"""Each step of upstreams, owners, packages and returns under the role of the process that takes it, and no other."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection

from accounts.duties.table import Duty
from audit.events import system
from config import clock, store
from evaluation.upstreams import services as trials
from evaluation.upstreams.models import UpstreamTrial
from submissions import tickets
from submissions.confidentiality import services as packages
from submissions.confidentiality.models import PackageDeletion
from submissions.models import Submission
from submissions.queries import returned_by_staff
from submissions.relations import services as relations
from submissions.relations.queries import publishable_from
from submissions.returns import queries as returned
from submissions.returns import services as returns
from submissions.services import cancel, register_harness, set_publication_consent, upstreams
from submissions.services.checking import check
from tests.access.upstreams.arranged import LIMITS, SECRET, registered, serving
from tests.accounts.duties import acting, opened
from tests.pages import site
from tests.submissions import world

pytestmark = pytest.mark.django_db(transaction=True)
BY = system("test")


@contextmanager
def serving_as(role: str) -> Iterator[None]:
    """With the rights of this role only."""
    with connection.cursor() as cursor:
        cursor.execute(f"SET ROLE lingee_{role}")
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute("RESET ROLE")


@pytest.fixture(autouse=True)
def no_tickets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tickets, "_send", lambda *arguments: None)


def test_an_upstream(settings: Any) -> None:
    settings.OUTGOING_LOOPBACK = True
    vendor = world.vendor()
    with serving() as script:
        script.answers("openai-chat")
        with serving_as("web"):
            row = registered(vendor, base_url=script.url)
            for _ in range(2):
                upstreams.set_credential(row.id, SECRET, by=vendor.actor)
            upstreams.change_upstream(row.id, changes={"concurrency": 9}, by=vendor.actor)
            trial = upstreams.ask_trial(row.id, by=vendor.actor)
        with serving_as("sealed"):
            trials.make_trial(trial.id, by=BY)
            trials.give_up_lost(by=BY)
        with serving_as("web"):
            upstreams.retire_upstream(row.id, by=vendor.actor)
    assert UpstreamTrial.objects.get().outcome == "ok"
    assert LIMITS.concurrency == 4


def test_an_owner() -> None:
    vendor, reviewer = world.vendor(), opened().holder(Duty.IDENTITY_REVIEWER)
    owner = relations.Owner("Ada", "ada@owner.invalid")
    task_set = site.task_set()
    with serving_as("web"):
        harness = register_harness(
            vendor.organisation, name="x", title="", relation="third_party", owner=owner, by=vendor.actor
        )
    found = vendor.submit(task_set, harness)
    set_publication_consent(found.id, consent="given", by=vendor.actor)
    with serving_as("console"):
        notice = relations.order_notice(found.id, by=acting(reviewer))
    with serving_as("web"):
        assert relations.send_due_notices(by=BY) == 1
    with serving_as("console"):
        relations.record_objection(notice.id, "no", by=acting(reviewer))
    with serving_as("sealed"):
        assert publishable_from(Submission.objects.get(pk=found.pk)).since is None


def test_a_package(servers: Any) -> None:
    store.ensure_buckets()
    office, vendor = opened(), world.vendor()
    engineer, arbiter = office.holder(Duty.EVALUATION_ENGINEER), office.holder(Duty.ARBITER)
    found = vendor.submit(site.task_set(), vendor.harness())
    check(found.id)
    with serving_as("console"):
        row = packages.propose(found.id, hours=3, reason="case 1", by=acting(engineer))
        packages.approve(row.id, by=acting(arbiter))
    with serving_as("sealed"):
        packages.lend_key(row.id, by=BY)
    plain = io.BytesIO()
    with serving_as("console"):
        packages.read_package(row.id, plain, by=acting(engineer))
        packages.end(row.id, by=acting(engineer))
    assert plain.getvalue()[:2] == b"\x1f\x8b"
    cancel(found.id, by=vendor.actor)
    with serving_as("sealed"), clock.shifted(timedelta(days=181)):
        packages.end_overdue(by=BY)
        assert packages.delete_due(by=BY) == 1
    with serving_as("web"):
        assert PackageDeletion.objects.filter(submission=found).exists()


@pytest.mark.case("E3")
def test_a_return_of_a_use() -> None:
    office, vendor = opened(), world.vendor()
    engineer, governor = office.holder(Duty.EVALUATION_ENGINEER), office.holder(Duty.HELD_OUT_GOVERNOR)
    found = site.moved(vendor.submit(site.task_set(), vendor.harness()), *site.TO_COMPLETE)
    with serving_as("console"):
        first = returns.propose(found.id, reason="ours", by=acting(engineer))
        returns.withdraw(first.id, by=acting(governor))
        row = returns.propose(found.id, reason="ours", by=acting(engineer))
        returns.approve(row.id, by=acting(governor))
        assert [row.state for row in returned.returns_for_staff()] == ["approved", "withdrawn"]
    with serving_as("web"):
        assert [slot.reason for slot in returned_by_staff(vendor.organisation)] == ["ours"]
