"""The rules of duties without the services: typed SQL, all pairs, and two sessions at once."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import timedelta
from itertools import product
from typing import Any

import psycopg
import pytest
from django.db import connection

from accounts import services as accounts
from accounts.duties import services
from accounts.duties.models import DutyAssignment, DutyCeremony
from accounts.duties.refusals import DutyRefused, Reason
from accounts.duties.smallest import smallest_staff
from accounts.duties.table import KEPT_APART, Duty, conflicting
from accounts.models import Membership
from config import clock
from tests.accounts.duties import TERM, Office, acting, member_of_staff, opened
from tests.audit.test_log import Connect
from tests.factories import recorded_as
from tests.submissions import world

pytestmark = pytest.mark.django_db(transaction=True)
ROUNDS = 5


def test_the_database_has_the_tables_own_pairs(connect_as: Connect) -> None:
    owner = connect_as("owner")
    for one, other in product(Duty, repeat=2):
        ((found,),) = owner.execute("SELECT accounts_duties_conflict(%s, %s)", [one.value, other.value])
        assert found is conflicting(one, other), (one, other)
    for duty in Duty:
        ((found,),) = owner.execute("SELECT accounts_duty_is_kept_apart(%s)", [duty.value])
        assert found is (duty in KEPT_APART), duty


@pytest.fixture
def office(transactional_db: None) -> Office:
    return opened()


PROPOSED = (
    "INSERT INTO accounts_dutyassignment (id, person, duty, begins_at, ends_at, assigned_by, assigned_at, reason, "
    "confirm_reason, review_reason, end_reason) VALUES (gen_random_uuid(), %(person)s, %(duty)s, now(), "
    "now() + interval '1 day', %(by)s, now(), 'x', '', '', '')"
)
CONFIRMED = (
    "UPDATE accounts_dutyassignment SET confirmed_by = %(by)s, confirmed_at = now(), review_due_at = now() "
    "WHERE person = %(person)s AND duty = %(duty)s"
)


def broken(act: Callable[[], Any]) -> str:
    """The rule that the database names."""
    with pytest.raises(psycopg.errors.IntegrityError) as caught:
        act()
    return str(caught.value.diag.constraint_name)


@pytest.mark.parametrize("role", ["console", "owner"])
def test_typed_sql_is_held_to_the_same_rules(office: Office, connect_as: Connect, role: str) -> None:
    mine, person = connect_as(role), member_of_staff()
    office.give(person, Duty.TASK_AUTHOR)
    office.propose(person, Duty.IDENTITY_REVIEWER)
    governor = DutyAssignment(
        person=person,
        duty="held_out_governor",
        begins_at=clock.now(),
        ends_at=clock.now() + TERM,
        assigned_by=office.first,
        assigned_at=clock.now(),
        reason="x",
    )
    with recorded_as("duty", governor.id):
        governor.save()
    facts = {"person": person.pseudonym, "duty": "arbiter", "by": office.first.pseudonym}
    by_nobody = facts | {"by": person.pseudonym}
    assert broken(lambda: mine.execute(PROPOSED, by_nobody)) == "duty_not_administrator"
    wrong = [
        ("held_out_governor", office.second, "duty_conflict"),
        ("identity_reviewer", office.first, "duty_two_people"),
        ("identity_reviewer", person, "duty_not_administrator"),
    ]
    for duty, by, rule in wrong:
        given = facts | {"duty": duty, "by": by.pseudonym}
        assert broken(lambda given=given: mine.execute(CONFIRMED, given)) == rule  # type: ignore[misc]
    assert broken(lambda: mine.execute(PROPOSED, facts | {"duty": "auditor"})) == "duty_by_term"
    # Every rule is kept, but nobody recorded it.
    with pytest.raises(psycopg.errors.IntegrityError, match="no audit event"):
        mine.execute(PROPOSED, facts)


def test_what_was_proposed_never_changes_and_nothing_is_deleted(office: Office, connect_as: Connect) -> None:
    owner = connect_as("owner")
    for change, rule in [
        ("duty = 'arbiter'", "duty_is_fixed"),
        ("ends_at = ends_at + interval '1 day'", "duty_is_fixed"),
        ("confirmed_at = confirmed_at - interval '1 day'", "duty_is_confirmed"),
    ]:
        assert (
            broken(lambda change=change: owner.execute(f"UPDATE accounts_dutyassignment SET {change}"))
            == rule
        )  # type: ignore[misc]
    for table in ("accounts_dutyassignment", "accounts_dutyceremony"):
        for statement in (f"DELETE FROM {table}", f"TRUNCATE {table} CASCADE"):
            with pytest.raises(psycopg.errors.IntegrityError):
                owner.execute(statement)


def test_other_isolation_levels_are_refused(office: Office, connect_as: Connect) -> None:
    """There a statement after the lock would not see what the session before has committed."""
    owner, vendor = connect_as("owner"), world.vendor()
    owner.execute("SET default_transaction_isolation = 'repeatable read'")
    move = "UPDATE accounts_membership SET user_id = user_id WHERE organisation_id = %s"
    assert broken(lambda: owner.execute(move, [vendor.organisation.pk])) == "duty_isolation"


def test_no_other_role_writes_duties_and_web_sees_none(office: Office, connect_as: Connect) -> None:
    for role in ("web", "execute", "sequencer"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connect_as(role).execute("SELECT FROM accounts_dutyassignment")
    for role in ("web", "execute", "sealed", "auditor", "sequencer"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connect_as(role).execute("UPDATE accounts_dutyassignment SET ended_at = now()")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connect_as(role).execute("SELECT accounts_can_submit(gen_random_uuid())")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        connect_as("console").execute("UPDATE accounts_dutyceremony SET held_at = now()")


def at_once(*works: Callable[[], Any]) -> list[Reason | None]:
    """Each in a connection of its own, at the same moment; what each was refused for."""
    gate, found = threading.Barrier(len(works)), dict[int, Reason | None]()

    def run(number: int, work: Callable[[], Any]) -> None:
        try:
            gate.wait()
            work()
            found[number] = None
        except DutyRefused as error:
            found[number] = error.reason
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=each) for each in enumerate(works)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [found[number] for number in range(len(works))]


def test_of_two_conflicting_duties_confirmed_at_once_one_is_held(office: Office) -> None:
    for _ in range(ROUNDS):
        person = member_of_staff()
        rows = [office.propose(person, duty) for duty in (Duty.TASK_AUTHOR, Duty.HELD_OUT_GOVERNOR)]
        done = at_once(
            *(lambda row=row: services.confirm(row, reason="x", by=acting(office.second)) for row in rows)
        )  # type: ignore[misc]
        assert sorted(map(str, done)) == ["None", "duty_conflict"]
        assert person.duties.filter(confirmed_at__isnull=False).count() == 1


def test_a_duty_confirmed_while_its_holder_joins_a_vendor_is_one_or_the_other(office: Office) -> None:
    vendor = world.vendor().organisation
    for _ in range(ROUNDS):
        person = member_of_staff()
        row = office.propose(person, Duty.ARBITER)
        done = at_once(
            lambda row=row: services.confirm(row, reason="x", by=acting(office.second)),  # type: ignore[misc]
            lambda person=person: accounts.add_member(vendor, person, "viewer", by=world.BY),  # type: ignore[misc]
        )
        held = person.duties.filter(confirmed_at__isnull=False).exists()
        assert held is not Membership.objects.filter(user=person).exists()
        assert done in ([None, Reason.HOLDER], [Reason.MEMBER, None])


def test_two_administrators_who_end_each_other_at_once_do_not_leave_one(office: Office) -> None:
    office.holder(Duty.ADMINISTRATOR)
    rows = [person.duties.get() for person in (office.first, office.second)]
    done = at_once(*(lambda row=row: services.end(row, reason="x", by=acting(row.person)) for row in rows))  # type: ignore[misc]
    assert sorted(map(str, done)) == ["None", "duty_few_administrators"]


def test_a_clock_that_lags_does_not_bring_an_ended_administrator_back(office: Office) -> None:
    """Both took the time before either had the lock: the one who comes second may have the earlier time."""
    office.holder(Duty.ADMINISTRATOR)
    first, second = (person.duties.get() for person in (office.first, office.second))
    before = clock.now()
    services.end(first, reason="x", by=acting(office.first))
    with clock.frozen(before), pytest.raises(DutyRefused) as caught:
        services.end(second, reason="x", by=acting(office.second))
    assert caught.value.reason is Reason.FEW_ADMINISTRATORS


def test_of_two_ceremonies_at_once_one_is_held(transactional_db: None) -> None:
    people = [member_of_staff() for _ in range(4)]
    until = clock.now() + timedelta(days=9)
    done = at_once(
        *(
            lambda two=two: services.hold_ceremony(*two, until=until, by=world.BY)  # type: ignore[misc]
            for two in (people[:2], people[2:])
        )
    )
    assert sorted(map(str, done)) == ["None", "duties_begun"]
    assert DutyCeremony.objects.count() == 1
    assert DutyAssignment.objects.count() == 2


def test_the_smallest_staff_can_be_employed(office: Office) -> None:
    """What the figure says is possible under the database's rules too."""
    for duties in smallest_staff():
        if Duty.ADMINISTRATOR not in duties and Duty.AUDITOR not in duties:
            office.holder(*sorted(duties))
    for person, other in ((office.first, office.second), (office.second, office.first)):
        Office(person, other).give(person, Duty.IDENTITY_REVIEWER)
