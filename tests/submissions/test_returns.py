"""One use is returned by two people with a reason: what staff do, what the vendor sees, what is refused."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import psycopg
import pytest
from django.db import IntegrityError, connections, transaction

from accounts import services as accounts
from accounts.auditors import mark_audit_organisation
from accounts.duties.refusals import DutyRefused, Reason
from accounts.duties.table import Duty
from accounts.models import Organisation, User
from accounts.notices.models import Notice
from audit.replay import Difference, Replay
from benchmark.models import TaskSetVersion
from client.audit.rules.base import Judge, Seen
from config import clock
from submissions import services as submissions
from submissions.models import Harness, Slot, Submission, UseReturn
from submissions.problems import Code, Refused
from submissions.replay import RETURN
from submissions.returns import services
from tests.accounts.duties import Office, acting, opened
from tests.audit.test_live import unguarded
from tests.factories import recorded_as
from tests.pages import site
from tests.pages.site import address, signed_in
from tests.servers import Servers
from tests.submissions import world

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.case("E3")]
Connect = Callable[[str], psycopg.Connection[Any]]
REASON = "Our store was down for two hours."


@dataclass
class House:
    """A vendor whose one use is counted, and the three people of the staff who may take part."""

    office: Office
    engineer: User
    governor: User
    second: User
    vendor: world.Vendor
    version: TaskSetVersion
    harness: Harness
    submission: Submission

    def propose(self, by: User | None = None) -> UseReturn:
        return services.propose(self.submission.pk, reason=REASON, by=acting(by or self.engineer))

    def counter(self, rule: str = "line") -> dict[str, Any]:
        """As the API shows it."""
        body = self.vendor.api.get("quota").body
        rows = [row for found in body["task_sets"] for row in found["harnesses"]]
        (row,) = (row for row in rows if row["harness"] == str(self.harness.id))
        return next(counter for counter in row["counters"] if counter["counter"] == rule)


@pytest.fixture
def house(transactional_db: None) -> House:
    office, vendor = opened(), world.vendor()
    version = site.task_set(line=1, lineage=1, account=1, preflight=9, in_flight=9)
    harness = vendor.harness()
    submission = site.moved(vendor.submit(version, harness), *site.TO_COMPLETE)
    engineer = office.holder(Duty.EVALUATION_ENGINEER)
    one, two = (office.holder(Duty.HELD_OUT_GOVERNOR) for _ in range(2))
    return House(office, engineer, one, two, vendor, version, harness, submission)


def refused(act: Callable[[], Any]) -> Reason | Code:
    with pytest.raises((DutyRefused, Refused)) as caught:
        act()
    error = caught.value
    return error.reason if isinstance(error, DutyRefused) else error.refusal.code


def test_from_the_proposal_to_what_the_vendor_sees(house: House, connect_as: Connect) -> None:
    engineer, governor = signed_in(house.engineer), signed_in(house.governor)
    facts = {"submission": str(house.submission.pk), "reason": REASON}
    before = house.counter()
    assert (before["used"], before["limit"], before["bites"]) == (1, 1, True)
    assert engineer.post(address("console:return_new"), facts).status_code == 302
    row = UseReturn.objects.get()
    assert house.counter() == before
    again = governor.post(address("console:return_new"), facts)
    assert (again.status_code, b"return_exists" in again.content) == (409, True)
    approve = address("console:return_act", row.id, "approve")
    alone = engineer.post(approve)
    assert (alone.status_code, b"duty_one_person" in alone.content) == (409, True)
    assert house.counter() == before
    assert REASON in governor.get(approve).content.decode()
    assert governor.post(approve).status_code == 302
    after = house.counter()
    assert (after["used"], after["refunded"], after["remaining"], after["bites"]) == (0, 1, 1, False)
    charge = house.vendor.api.get(f"submissions/{house.submission.pk}").body["charge"]
    assert (charge["cause"], charge["reason"]) == ("refund_by_staff", REASON)
    vendor = signed_in(house.vendor.user)
    for page in (address("submissions:submission", house.submission.pk), address("leaderboard:home")):
        shown = vendor.get(page).content.decode()
        assert REASON in shown
        assert "refund_by_staff" in shown
        assert not any(who.email in shown for who in (house.engineer, house.governor))
    told = Notice.objects.get(kind="slot.refunded")
    assert (told.person, told.subject) == (house.vendor.user, str(house.submission.pk))
    rows = connect_as("auditor").execute(
        "SELECT kind, body FROM audit_event WHERE kind LIKE 'use_return.%' OR kind = 'slot.refunded' ORDER BY id"
    )
    seen = {kind: json.loads(bytes(body)) for kind, body in rows}
    assert list(seen) == ["use_return.proposed", "use_return.approved", "slot.refunded"]
    assert seen["use_return.proposed"]["data"]["proposed_by"] == str(house.engineer.pseudonym)
    assert seen["use_return.approved"]["data"]["approved_by"] == str(house.governor.pseudonym)
    assert seen["slot.refunded"]["data"]["cause"] == "refund_by_staff"
    assert REASON not in json.dumps(seen)
    for language, word in (("en", "approved"), ("zh-hans", "已批准")):
        page = governor.get(address("console:returns", language=language)).content.decode()
        assert word in page


def test_a_use_comes_back_once_and_never_beyond_the_limit(house: House) -> None:
    services.approve(house.propose().id, by=acting(house.governor))
    assert refused(house.propose) is Code.REFUND_NOT_POSSIBLE
    second = house.vendor.submit(house.version, house.harness)
    assert [house.counter(rule)["used"] for rule in ("line", "lineage", "account")] == [1, 1, 1]
    order = house.vendor.order(house.version, house.harness)
    assert refused(lambda: submissions.submit(order, by=house.vendor.actor, key="k")) is Code.QUOTA_LINE
    by = acting(house.engineer)
    reserved = lambda: services.propose(second.pk, reason=REASON, by=by)  # noqa: E731 - reads as one act
    assert refused(reserved) is Code.REFUND_NOT_POSSIBLE
    second = site.moved(second, *site.TO_RUNNING)
    services.approve(services.propose(second.pk, reason=REASON, by=by).id, by=acting(house.governor))
    found = house.counter()
    assert (found["used"], found["refunded"], found["remaining"], found["limit"]) == (0, 2, 1, 1)


def test_who_may_not(house: House) -> None:
    administrator = house.office.first
    assert refused(lambda: house.propose(administrator)) is Reason.NOT_ENTITLED
    blank = lambda: services.propose(house.submission.pk, reason=" ", by=acting(house.engineer))  # noqa: E731
    assert refused(blank) is Reason.NO_REASON
    row = house.propose(house.governor)
    for who, why in (
        (house.governor, Reason.ONE_PERSON),
        (house.engineer, Reason.NOT_ENTITLED),
        (administrator, Reason.NOT_ENTITLED),
    ):
        by = acting(who)
        assert refused(lambda by=by: services.approve(row.id, by=by)) is why  # type: ignore[misc]
    assert refused(lambda: services.withdraw(row.id, by=acting(administrator))) is Reason.NOT_ENTITLED
    assert house.counter()["used"] == 1
    assert signed_in(house.vendor.user).get(address("console:returns")).status_code == 404


def test_a_proposal_of_one_who_lost_the_duty_is_not_approved(house: House) -> None:
    from accounts.duties.services import end

    row = house.propose()
    end(house.engineer.duties.get(), reason="left", by=acting(house.office.first))
    assert refused(lambda: services.approve(row.id, by=acting(house.governor))) is Reason.NOT_ENTITLED
    assert Slot.objects.get(submission=house.submission).state == "consumed"


def test_withdrawn_it_can_be_proposed_anew(house: House) -> None:
    row = house.propose()
    client = signed_in(house.second)
    assert client.post(address("console:return_act", row.id, "withdraw")).status_code == 302
    assert house.counter()["used"] == 1
    for act in (services.approve, services.withdraw):
        assert refused(lambda act=act: act(row.id, by=acting(house.governor))) is Reason.IS_OVER  # type: ignore[misc]
    new = house.propose(house.governor)
    services.approve(new.id, by=acting(house.second))
    assert refused(lambda: services.withdraw(new.id, by=acting(house.second))) is Reason.IS_CONFIRMED


def test_nobody_decides_about_what_is_linked_with_their_own(house: House) -> None:
    """Holders belong to organisations that audit at most; one of those may be linked with a vendor's."""
    audits = accounts.create_organisation("Audit", owner=world.person(), by=world.BY)
    mark_audit_organisation(audits, by=world.BY)
    accounts.add_member(audits, house.governor, "viewer", by=world.BY)
    with recorded_as("organisation", audits.pk):
        Organisation.objects.filter(pk=audits.pk).update(lineage=house.vendor.organisation.lineage_id)
    assert refused(lambda: house.propose(house.governor)) is Reason.OWN_CASE
    row = house.propose()
    assert refused(lambda: services.approve(row.id, by=acting(house.governor))) is Reason.OWN_CASE
    assert refused(lambda: services.withdraw(row.id, by=acting(house.governor))) is Reason.OWN_CASE
    services.approve(row.id, by=acting(house.second))


def at_once(*acts: Callable[[], object]) -> list[str]:
    """What came of acts in threads of their own, begun at one moment: "done", or the code."""
    barrier = threading.Barrier(len(acts))
    outcomes: list[str] = []

    def run(act: Callable[[], object]) -> None:
        barrier.wait()
        try:
            act()
            outcomes.append("done")
        except DutyRefused as error:
            outcomes.append(error.reason.value)
        except Refused as error:
            outcomes.append(error.refusal.code.value)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run, args=(act,)) for act in acts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sorted(outcomes)


def test_at_once_there_is_one_proposal_and_one_return(house: House) -> None:
    proposals = at_once(house.propose, lambda: house.propose(house.governor))
    assert proposals == ["done", "return_exists"]
    UseReturn.objects.get()
    services.withdraw(UseReturn.objects.get().id, by=acting(house.second))
    row = house.propose()
    approvals = at_once(
        *(lambda who=who: services.approve(row.id, by=acting(who)) for who in (house.governor, house.second))
    )
    assert approvals == ["done", "duty_is_confirmed"]
    assert house.counter()["refunded"] == 1
    assert Notice.objects.filter(kind="slot.refunded").count() == 1


def test_typed_sql_is_held_to_the_same_rules(house: House, connect_as: Connect) -> None:
    slot = Slot.objects.get(submission=house.submission)
    returned = {"state": "refunded", "cause": "refund_by_staff", "refunded_at": clock.now()}
    with pytest.raises(IntegrityError, match="two people"), recorded_as("slot", slot.pk):
        Slot.objects.filter(pk=slot.pk).update(**returned)
    row = house.propose()
    now = clock.now()
    for changes, error in (
        ({"approved_by": house.engineer, "approved_at": now}, "return_two_people"),
        ({"approved_by": house.governor}, "return_approved_by_somebody"),
        ({"withdrawn_at": now}, "return_withdrawn_by_somebody"),
    ):
        with pytest.raises(IntegrityError, match=error), recorded_as("use_return", row.pk):
            UseReturn.objects.filter(pk=row.pk).update(**changes)
    with pytest.raises(psycopg.errors.IntegrityError, match="never changes"):
        connect_as("owner").execute("UPDATE submissions_usereturn SET reason = 'another'")
    double = {"slot_id": slot.pk, "reason": "x", "proposed_by": house.governor, "proposed_at": now}
    with pytest.raises(IntegrityError, match="return_one_of_a_slot"), transaction.atomic():
        UseReturn.objects.create(**double)
    services.approve(row.id, by=acting(house.governor))
    with pytest.raises(IntegrityError, match="never changes"), recorded_as("use_return", row.pk):
        UseReturn.objects.filter(pk=row.pk).update(approved_by=house.second)
    for role in ("web", "execute", "sealed", "sequencer"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connect_as(role).execute("SELECT FROM submissions_usereturn")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        connect_as("auditor").execute("SELECT reason FROM submissions_usereturn")
    for statement in ("UPDATE submissions_usereturn SET reason = 'x'", "DELETE FROM submissions_usereturn"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connect_as("console").execute(statement)


def test_the_rows_are_what_the_log_tells(house: House, connect_as: Connect, servers: Servers) -> None:
    withdrawn = house.propose()
    services.withdraw(withdrawn.id, by=acting(house.governor))
    services.approve(house.propose().id, by=acting(house.governor))
    auditor = connect_as("auditor")

    def differences() -> list[Difference]:
        follow = Replay([RETURN])
        for position, body in auditor.execute("SELECT id, body FROM audit_event ORDER BY id").fetchall():
            assert follow.see(json.loads(bytes(body)), position) == []
        return list(follow.differences(auditor.execute))

    assert differences() == []
    with unguarded(servers, "submissions_usereturn") as thief:
        thief.execute(
            "UPDATE submissions_usereturn SET approved_by = %s WHERE approved_at IS NOT NULL",
            [house.second.pseudonym],
        )
    (found,) = differences()
    assert "approved_by" in found.what


def story(*events: tuple[str, str, dict[str, Any]]) -> list[str]:
    """What only this subject's rules say about the events."""
    from client.audit.rules.returns import UseReturns

    rule, found = UseReturns(), []
    for position, (kind, subject, data) in enumerate(events):
        found.append(rule.see(Seen(position, kind, subject, "ok", data, -1)))
    return [wrong for wrong in found if wrong]


BEGUN = ("duties.begun", "1", {"first": "a", "second": "b"})
PROPOSED = ("use_return.proposed", "r", {"slot": "s", "submission": "u", "proposed_by": "a", "reason": "x"})
APPROVED = ("use_return.approved", "r", {"slot": "s", "submission": "u", "approved_by": "b", "at": "t"})
WITHDRAWN = ("use_return.withdrawn", "r", {"slot": "s", "submission": "u", "withdrawn_by": "b", "at": "t"})
RETURNED = ("slot.refunded", "s", {"submission": "u", "cause": "refund_by_staff", "reason": "x"})


@pytest.mark.django_db(transaction=False)
def test_the_verifier_knows_how_a_return_goes() -> None:
    assert story(BEGUN, PROPOSED, APPROVED, RETURNED) == []
    assert story(BEGUN, PROPOSED, WITHDRAWN) == []
    assert story(RETURNED) == []
    assert story(BEGUN, ("slot.refunded", "s", {"submission": "u", "cause": "deadline_choice"})) == []
    alone = (*APPROVED[:2], APPROVED[2] | {"approved_by": "a"})
    other = (*APPROVED[:2], APPROVED[2] | {"slot": "z"})
    for wrong, said in [
        ((BEGUN, RETURNED), "no earlier entry approves"),
        ((BEGUN, PROPOSED, RETURNED), "no earlier entry approves"),
        ((BEGUN, PROPOSED, WITHDRAWN, RETURNED), "no earlier entry approves"),
        ((APPROVED,), "no earlier entry proposes"),
        ((PROPOSED, PROPOSED), "a second time"),
        ((PROPOSED, alone), "one person alone"),
        ((PROPOSED, other), "decided for another"),
        ((PROPOSED, WITHDRAWN, APPROVED), "decided before"),
    ]:
        assert any(said in text for text in story(*wrong)), said
    assert {"use_return.proposed", "use_return.approved", "use_return.withdrawn"} <= Judge().known
