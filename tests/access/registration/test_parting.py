"""A link that was confirmed and proves false is undone by two people; each side has its own allowance again."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from django.db import connections

from accounts.duties.refusals import DutyRefused
from accounts.linking import parting
from accounts.linking import services as linking
from accounts.linking.models import LinkCase
from accounts.linking.refusals import LinkRefused
from accounts.models import Organisation, User
from benchmark.models import TaskSetVersion
from submissions import services
from submissions.linking import services as joining
from submissions.models import AdmissionStop, Slot
from submissions.problems import Refused
from submissions.services.policy import stop_admission
from submissions.tasks import find_links
from tests.access.registration.test_linking import LINK, Connect, page, same_package, submitted
from tests.accounts.duties import acting, member_of_staff
from tests.audit.test_live import checked
from tests.pages import site
from tests.pages.site import signed_in
from tests.submissions import world

pytestmark = [
    pytest.mark.django_db(transaction=True, databases=["default", "auditor"]),
    pytest.mark.case("G11"),
    pytest.mark.acceptance("access:1"),
]
WHY = {"reason": "two companies in one building"}


@pytest.fixture
def version(transactional_db: None) -> TaskSetVersion:
    return site.task_set(lineage=2, line=2, account=2, in_flight=9, preflight=9)


@pytest.fixture
def pair(transactional_db: None) -> tuple[world.Vendor, world.Vendor]:
    return world.vendor(), world.vendor()


def linked(one: world.Vendor, other: world.Vendor, reviewers: tuple[User, User]) -> LinkCase:
    """The pair's case, decided by the two."""
    case = linking.raise_case(
        one.organisation.lineage_id,
        other.organisation.lineage_id,
        [("number", uuid.uuid4().hex)],
        by=world.BY,
    )
    assert case is not None
    linking.propose(case, **LINK, by=acting(reviewers[0]))
    joining.decide(case, by=acting(reviewers[1]))
    for vendor in (one, other):
        vendor.organisation.refresh_from_db()
    return case


def lineages(*vendors: world.Vendor) -> list[Any]:
    keys = [vendor.organisation.pk for vendor in vendors]
    by_key = dict(Organisation.objects.filter(pk__in=keys).values_list("pk", "lineage_id"))
    return [by_key[key] for key in keys]


def used(vendor: world.Vendor) -> int:
    counters = vendor.api.get("quota").body["task_sets"][0]["harnesses"][0]["counters"]
    found: int = next(row["used"] for row in counters if row["counter"] == "lineage")
    return found


def test_two_people_undo_it_and_each_has_its_own_allowance_with_what_it_used(
    pair: tuple[world.Vendor, world.Vendor],
    reviewers: tuple[User, User],
    version: TaskSetVersion,
    sequence: Callable[[], int],
) -> None:
    one, other = pair
    before = lineages(*pair)
    same_package(one, other, version)
    find_links()
    case = LinkCase.objects.get()
    first, second = (signed_in(person) for person in reviewers)
    first.post(page(case, "propose"), LINK)
    second.post(page(case, "confirm"))
    assert len(set(lineages(*pair))) == 1
    assert submitted(one, version).code == "quota_lineage"
    shown = first.get(page(case)).content.decode()
    assert "Was this link false?" in shown or "undo" in shown
    assert first.post(page(case, "propose"), {"reason": ""}).status_code == 422
    first.post(page(case, "propose"), WHY)
    assert "duty_one_person" in first.post(page(case, "confirm"), follow=True).content.decode()
    assert submitted(other, version).code == "quota_lineage"  # as long as one alone says so
    second.post(page(case, "return"))
    case.refresh_from_db()
    assert (case.state, case.parting_by, case.parting_reason) == ("linked", None, "")
    second.post(page(case, "propose"), WHY)
    first.post(page(case, "confirm"))
    case.refresh_from_db()
    assert (case.state, case.parted_by) == ("parted", reviewers[0])
    assert lineages(*pair) == before
    for vendor in pair:
        assert used(vendor) == 1
        assert submitted(vendor, version).status == 202
        assert submitted(vendor, version).code == "quota_lineage"
    find_links()
    assert LinkCase.objects.count() == 1  # the same signals raise it no more
    assert "link_moved_on" in first.post(page(case, "confirm"), follow=True).content.decode()
    sequence()
    assert {finding.table for finding in checked().findings} == {"benchmark_tasksetversion"}


def test_a_stop_that_came_while_they_were_linked_holds_for_both_afterwards(
    pair: tuple[world.Vendor, world.Vendor], reviewers: tuple[User, User], version: TaskSetVersion
) -> None:
    case = linked(*pair, reviewers)
    assert case.into is not None
    stop_admission(version, cause=AdmissionStop.Cause.GOVERNANCE, lineage=case.into, by=world.BY)
    parting.propose(case, **WHY, by=acting(reviewers[0]))
    joining.part(case, by=acting(reviewers[1]))
    stopped = set(AdmissionStop.objects.filter(lifted_at=None).values_list("lineage", flat=True))
    assert stopped == set(lineages(*pair))
    for vendor in pair:
        assert submitted(vendor, version).code == "admission_stopped"


def test_what_a_later_link_builds_on_is_undone_after_it(
    pair: tuple[world.Vendor, world.Vendor], reviewers: tuple[User, User], version: TaskSetVersion
) -> None:
    one, other = pair
    third, apart = world.vendor(), world.vendor()
    before = lineages(one, other, third, apart)
    low = linked(other, third, reviewers)
    high = linked(one, other, reviewers)  # moves what `low` had moved
    free = linked(one, apart, reviewers)  # joins, and touches neither
    assert len(set(lineages(one, other, third, apart))) == 1
    with pytest.raises(LinkRefused, match="link_built_on"):
        parting.propose(low, **WHY, by=acting(reviewers[0]))
    for case in (high, low):
        parting.propose(case, **WHY, by=acting(reviewers[0]))
        joining.part(case, by=acting(reviewers[1]))
    assert lineages(one, other, third, apart) == [before[0], before[1], before[2], before[0]]
    parting.propose(free, **WHY, by=acting(reviewers[0]))
    joining.part(free, by=acting(reviewers[1]))
    assert lineages(one, other, third, apart) == before


def test_nobody_parts_alone_or_without_the_duty_and_the_database_says_so_too(
    pair: tuple[world.Vendor, world.Vendor], reviewers: tuple[User, User], connect_as: Connect
) -> None:
    case = linked(*pair, reviewers)
    stranger = member_of_staff()
    assert signed_in(stranger).post(page(case, "propose"), WHY).status_code == 404
    with pytest.raises(DutyRefused, match="decision_not_entitled"):
        parting.propose(case, **WHY, by=acting(stranger))
    with pytest.raises(DutyRefused, match="duty_no_reason"):
        parting.propose(case, reason=" ", by=acting(reviewers[0]))
    parting.propose(case, **WHY, by=acting(reviewers[0]))
    console = connect_as("console")
    for who, rule in ((reviewers[0], "link_parting_two_people"), (stranger, "only identity reviewers")):
        with pytest.raises(psycopg.errors.IntegrityError, match=rule):
            console.execute(
                "UPDATE accounts_linkcase SET state = 'parted', parted_by = %s, parted_at = now()",
                [who.pseudonym],
            )
    for change in (
        "decided_at = now()",
        "moved = '[]'",
        "parting_reason = 'other words'",
        "state = 'cleared'",
    ):
        with pytest.raises(psycopg.errors.IntegrityError, match=r"link|case|decided|proposed"):
            console.execute(f"UPDATE accounts_linkcase SET {change}")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        connect_as("web").execute("UPDATE accounts_linkcase SET state = 'parted'")


def test_no_admission_slips_between_while_two_allowances_part(
    pair: tuple[world.Vendor, world.Vendor], reviewers: tuple[User, User]
) -> None:
    """Before the instant both had one allowance, after it each its own; nobody got more of either."""
    limit = 3
    version = site.task_set("2026.9", line=9, lineage=limit, account=9, in_flight=9, preflight=9)
    case = linked(*pair, reviewers)
    parting.propose(case, **WHY, by=acting(reviewers[0]))
    orders = [(v, v.order(version, v.harness(f"race-{n}"))) for n in range(4) for v in pair]
    barrier, codes, broken = threading.Barrier(len(orders) + 1), set(), []

    def submit(vendor: world.Vendor, order: Any) -> None:
        try:
            barrier.wait()
            services.submit(order, by=vendor.actor, key=uuid.uuid4().hex)
        except Refused as refused:
            codes.add(refused.refusal.code)
        except Exception as error:
            broken.append(error)
        finally:
            connections.close_all()

    def part() -> None:
        try:
            barrier.wait()
            joining.part(case, by=acting(reviewers[1]))
        finally:
            connections.close_all()

    threads = [threading.Thread(target=submit, args=order) for order in orders]
    threads.append(threading.Thread(target=part))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert broken == []
    case.refresh_from_db()
    assert case.state == "parted"
    assert case.parted_at is not None
    assert Slot.objects.filter(reserved_at__lt=case.parted_at).count() <= limit
    for vendor in pair:
        while submitted(vendor, version).status == 202:
            pass
        assert Slot.objects.filter(line__organisation=vendor.organisation).count() == limit
    assert codes <= {"quota_lineage"}
