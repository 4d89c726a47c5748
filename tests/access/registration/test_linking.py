"""Accounts that may belong together: one case a pair, nobody stopped, two people decide."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from django.db import connections

from accounts.duties.refusals import DutyRefused
from accounts.linking import services as linking
from accounts.linking.models import LinkCase, NetworkMark
from accounts.models import Organisation, User
from benchmark.models import TaskSetVersion
from submissions import services
from submissions.linking import services as joining
from submissions.models import Slot
from submissions.problems import Refused
from submissions.tasks import find_links
from tests.access.registration import filing
from tests.accounts.duties import acting, member_of_staff
from tests.audit.test_live import checked
from tests.pages import site
from tests.pages.site import signed_in
from tests.submissions import world
from tests.submissions.bundles import bundle, card

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "auditor"])
Connect = Callable[[str], psycopg.Connection[Any]]
LIST = "/en/console/links/"
LINK = {"verdict": "link", "reason": "one owner in both registers"}
CLEAR = {"verdict": "clear", "reason": "a shared office"}


def page(case: LinkCase, act: str = "") -> str:
    return f"{LIST}{case.id}/" + (f"{act}/" if act else "")


@pytest.fixture
def version(transactional_db: None) -> TaskSetVersion:
    return site.task_set(lineage=2, line=2, account=2, in_flight=9, preflight=9)


@pytest.fixture
def pair(transactional_db: None) -> tuple[world.Vendor, world.Vendor]:
    one, other = world.vendor(), world.vendor()
    for vendor, name in ((one, "Alpha"), (other, "Beta")):
        with_event(vendor.organisation, name)
    return one, other


def with_event(organisation: Organisation, name: str) -> None:
    from tests.factories import recorded

    with recorded(organisation):
        Organisation.objects.filter(pk=organisation.pk).update(name=name)
    organisation.refresh_from_db()


def own_card() -> dict[str, Any]:
    """A card like no other."""
    words = " ".join(uuid.uuid4().hex[:6] for _ in range(60))
    found = card()
    found["layers"]["execution"]["summary"] = words
    return found


def submitted(vendor: world.Vendor, version: TaskSetVersion, **how: Any) -> Any:
    """A submission over HTTP, with a card and a package of its own unless said otherwise."""
    harness = vendor.harness(f"h{uuid.uuid4().hex[:8]}")
    made = services.add_version(harness, version="1.0", card=how.get("card") or own_card(), by=vendor.actor)
    upload = vendor.upload(made, how.get("package") or bundle(harness.name, "1.0"))
    body = {"harness_version": str(made.id), "task_set": version.label, "upload": str(upload.id)}
    return vendor.api.post("submissions", body, REMOTE_ADDR=how.get("address", "127.0.0.1"))


def registered(vendor: world.Vendor, **changes: str) -> None:
    own = uuid.uuid4().hex
    facts = {"legal_name": own, "number": own, "domain": f"d{own}.example"} | changes
    filing.filed(vendor, **facts)


def same_data(field: str, one_says: str, other_says: str) -> Callable[..., None]:
    def arrange(one: world.Vendor, other: world.Vendor, version: TaskSetVersion) -> None:
        registered(one, **{field: one_says})
        registered(other, **{field: other_says})

    return arrange


def same_network(one: world.Vendor, other: world.Vendor, version: TaskSetVersion) -> None:
    assert submitted(one, version, address="8.8.8.8").status == 202
    assert submitted(other, version, address="8.8.8.77").status == 202


def same_package(one: world.Vendor, other: world.Vendor, version: TaskSetVersion) -> None:
    data = bundle("probe", "1.0")
    assert submitted(one, version, package=data).status == 202
    assert submitted(other, version, package=data).status == 202


def near_card(one: world.Vendor, other: world.Vendor, version: TaskSetVersion) -> None:
    changed = card()
    changed["layers"]["tools"]["summary"] += " Also."
    assert submitted(one, version, card=card()).status == 202
    assert submitted(other, version, card=changed).status == 202


SIGNALS = {
    "name": same_data("legal_name", "Jiang Hai Co., Ltd.", "ＪＩＡＮＧ HAI"),
    "number": same_data("number", "9131 0000", "91310000"),
    "domain": same_data("domain", "jianghai.example", "JiangHai.example."),
    "network": same_network,
    "package": same_package,
    "card": near_card,
}


@pytest.mark.case("E18")
@pytest.mark.case("U18")
@pytest.mark.acceptance("access:1")
@pytest.mark.parametrize("kind", SIGNALS)
def test_each_signal_opens_one_case_and_stops_nobody(
    kind: str,
    pair: tuple[world.Vendor, world.Vendor],
    reviewers: tuple[User, User],
    version: TaskSetVersion,
) -> None:
    one, other = pair
    third = world.vendor()
    assert submitted(third, version, address="8.8.9.8").status == 202
    SIGNALS[kind](one, other, version)
    find_links()
    find_links()
    case = LinkCase.objects.get()
    assert {case.first_id, case.second_id} == {one.organisation.lineage_id, other.organisation.lineage_id}
    assert [found for found, _mark in case.signals] == [kind]
    browser = signed_in(reviewers[0])
    listed, shown = browser.get(LIST).content.decode(), browser.get(page(case)).content.decode()
    for text in (listed, shown):
        assert "Alpha" in text
        assert "Beta" in text
    used = Slot.objects.count() - 1
    assert f"{used} of 2" in shown
    for vendor, foreign in ((one, "Beta"), (other, "Alpha")):
        told = signed_in(vendor.user).get("/en/account/organisation/").content.decode()
        assert "Under verification" in told
        assert foreign not in told
        assert submitted(vendor, version).status == 202
    assert "Under verification" not in signed_in(third.user).get("/en/account/organisation/").content.decode()


def test_what_is_apart_opens_nothing(
    pair: tuple[world.Vendor, world.Vendor], version: TaskSetVersion
) -> None:
    one, other = pair
    for vendor, address in ((one, "127.0.0.1"), (other, "127.0.0.1")):
        registered(vendor)
        assert submitted(vendor, version, address=address).status == 202
    submitted(one, version, card=(same := card()))
    services.add_version(one.harness("second"), version="1.0", card=same, by=one.actor)
    find_links()
    assert not LinkCase.objects.exists()


def test_marks_of_networks_are_coarse_and_forgotten(
    pair: tuple[world.Vendor, world.Vendor], version: TaskSetVersion, connect_as: Connect
) -> None:
    one, other = pair
    assert submitted(one, version, address="8.8.8.8").status == 202
    row = NetworkMark.objects.get()
    assert len(row.mark) == 64
    assert "8.8" not in str(connect_as("owner").execute("SELECT * FROM accounts_networkmark").fetchall())
    connect_as("owner").execute("UPDATE accounts_networkmark SET day = day - 91")
    assert submitted(other, version, address="8.8.8.9").status == 202
    find_links()
    assert not LinkCase.objects.exists()
    assert NetworkMark.objects.get().organisation_id == other.organisation.pk


@pytest.mark.case("G11")
@pytest.mark.case("U18")
@pytest.mark.acceptance("access:1")
def test_once_two_people_confirm_the_pair_shares_one_allowance(
    pair: tuple[world.Vendor, world.Vendor],
    reviewers: tuple[User, User],
    version: TaskSetVersion,
    sequence: Callable[[], int],
) -> None:
    one, other = pair
    same_package(one, other, version)
    find_links()
    case = LinkCase.objects.get()
    first, second = (signed_in(person) for person in reviewers)
    assert "This field is required" in first.post(page(case, "propose"), {"verdict": "link"}).content.decode()
    first.post(page(case, "propose"), LINK)
    refused = first.post(page(case, "confirm"), follow=True).content.decode()
    assert "duty_one_person" in refused
    assert Organisation.objects.values("lineage").distinct().count() == Organisation.objects.count()
    second.post(page(case, "confirm"))
    case.refresh_from_db()
    assert (case.state, case.into_id) == ("linked", min(case.first_id, case.second_id))
    for vendor in (one, other):
        answer = submitted(vendor, version)
        assert (answer.status, answer.code, answer.body["used"]) == (429, "quota_lineage", 2)
        quota = vendor.api.get("quota").body["task_sets"][0]["harnesses"][0]["counters"]
        assert next(row for row in quota if row["counter"] == "lineage")["used"] == 2
        vendor.organisation.refresh_from_db()
        assert vendor.organisation.is_verified
    find_links()
    assert LinkCase.objects.count() == 1
    told = signed_in(one.user).get("/en/account/organisation/").content.decode()
    assert "Under verification" not in told
    sequence()
    unexplained = {finding.table for finding in checked().findings}
    assert unexplained == {"benchmark_tasksetversion"}  # made by the test's factory, without events


@pytest.mark.case("G11")
@pytest.mark.acceptance("access:1")
def test_a_false_positive_is_cleared_and_not_raised_again_for_the_same(
    pair: tuple[world.Vendor, world.Vendor], reviewers: tuple[User, User], version: TaskSetVersion
) -> None:
    one, other = pair
    same_package(one, other, version)
    find_links()
    case = LinkCase.objects.get()
    first, second = (signed_in(person) for person in reviewers)
    first.post(page(case, "propose"), CLEAR)
    second.post(page(case, "return"))
    second.post(page(case, "propose"), CLEAR)
    first.post(page(case, "confirm"))
    case.refresh_from_db()
    assert case.state == "cleared"
    find_links()
    assert LinkCase.objects.count() == 1
    for vendor in (one, other):
        assert submitted(vendor, version).status == 202
        assert (
            "Under verification"
            not in signed_in(vendor.user).get("/en/account/organisation/").content.decode()
        )
    registered(one, number="77")
    registered(other, number="77")
    find_links()
    assert LinkCase.objects.filter(state="open").count() == 1
    assert LinkCase.objects.count() == 2


def test_however_many_look_at_once_there_is_one_case(
    pair: tuple[world.Vendor, world.Vendor], version: TaskSetVersion
) -> None:
    same_package(*pair, version)
    barrier, failed = threading.Barrier(8), []

    def look() -> None:
        try:
            barrier.wait()
            find_links()
        except Exception as error:
            failed.append(error)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=look) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    assert LinkCase.objects.count() == 1


def test_nobody_decides_about_their_own_and_the_database_says_so_too(
    pair: tuple[world.Vendor, world.Vendor],
    reviewers: tuple[User, User],
    version: TaskSetVersion,
    connect_as: Connect,
) -> None:
    same_package(*pair, version)
    find_links()
    case = LinkCase.objects.get()
    stranger = member_of_staff()
    assert signed_in(stranger).get(LIST).status_code == 404
    assert signed_in(stranger).get(page(case)).status_code == 404
    assert signed_in(pair[0].user).get(page(case)).status_code == 404
    with pytest.raises(DutyRefused):
        linking.propose(case, **LINK, by=acting(stranger))
    linking.propose(case, **LINK, by=acting(reviewers[0]))
    console = connect_as("console")
    for who, rule in ((reviewers[0], "link_two_people"), (stranger, "only identity reviewers")):
        with pytest.raises(psycopg.errors.IntegrityError, match=rule):
            console.execute(
                "UPDATE accounts_linkcase SET state = 'linked', decided_by = %s, decided_at = now()",
                [who.pseudonym],
            )
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        connect_as("web").execute("SELECT signals FROM accounts_linkcase")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        connect_as("web").execute("UPDATE accounts_organisation SET lineage_id = gen_random_uuid()")


def test_no_admission_slips_between_while_two_allowances_join(
    pair: tuple[world.Vendor, world.Vendor], reviewers: tuple[User, User]
) -> None:
    """Whoever is admitted after the instant of the decision found room in what both had used by then."""
    limit = 5
    version = site.task_set("2026.9", line=9, lineage=limit, account=9, in_flight=9, preflight=9)
    same_package(*pair, version)
    find_links()
    case = LinkCase.objects.get()
    linking.propose(case, **LINK, by=acting(reviewers[0]))
    orders = [(v, v.order(version, v.harness(f"race-{n}"))) for n in range(4) for v in pair]
    barrier, codes = threading.Barrier(len(orders) + 1), set()

    def submit(vendor: world.Vendor, order: Any) -> None:
        try:
            barrier.wait()
            services.submit(order, by=vendor.actor, key=uuid.uuid4().hex)
        except Refused as refused:
            codes.add(refused.refusal.code)
        finally:
            connections.close_all()

    def join() -> None:
        try:
            barrier.wait()
            joining.decide(case, by=acting(reviewers[1]))
        finally:
            connections.close_all()

    threads = [threading.Thread(target=submit, args=order) for order in orders]
    threads.append(threading.Thread(target=join))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    case.refresh_from_db()
    assert case.state == "linked"
    assert case.decided_at is not None
    at = sorted(Slot.objects.values_list("reserved_at", flat=True))
    late = [number for number, instant in enumerate(at) if instant > case.decided_at]
    assert all(number < limit for number in late)
    assert codes <= {"quota_lineage"}
    for vendor in (*pair, *pair, *pair):
        submitted(vendor, version)
    assert Slot.objects.count() == max(limit, len(at))
