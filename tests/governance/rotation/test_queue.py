"""The rotation queue: who may put a task in, two people for what becomes of it, and the clock."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from django.db import DatabaseError, connection
from hypothesis import given
from hypothesis import strategies as st

from accounts.duties.refusals import DutyRefused, Reason
from accounts.duties.table import Duty
from benchmark.models import TaskRevision
from config import clock
from governance.rotation import policies, services
from governance.rotation.models import RotationEntry
from submissions.problems import Code, Refused
from tests.accounts.duties import acting, opened
from tests.factories import BY, frozen_version, recorded_as
from tests.governance.rotation import rows

pytestmark = pytest.mark.django_db(transaction=True)
Connect = Callable[[str], psycopg.Connection[Any]]
WHY = "Its pass rate is not credible any more."


def refused(act: Callable[[], Any]) -> Reason | Code:
    with pytest.raises((DutyRefused, Refused)) as caught:
        act()
    error = caught.value
    return error.reason if isinstance(error, DutyRefused) else error.refusal.code


def typed(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)


@pytest.mark.parametrize(
    ("verdict", "state"),
    [
        ("keep_watching", "watching"),
        ("rotate", "rotating"),
        ("retire", "retiring"),
        ("false_alarm", "dismissed"),
    ],
)
def test_two_people_decide(verdict: str, state: str) -> None:
    one, two = rows.governors()
    entry = rows.queued(frozen_version("9.0"))
    ground = "contaminated" if verdict == "retire" else ""
    services.suggest(entry.pk, verdict=verdict, reason=WHY, ground=ground, by=acting(one))
    assert refused(lambda: services.confirm(entry.pk, by=acting(one))) is Reason.ONE_PERSON
    found = services.confirm(entry.pk, by=acting(two))
    assert (found.state, found.decided_by, found.proposed_by) == (state, two, one)
    assert refused(lambda: services.confirm(entry.pk, by=acting(two))) is Code.ROTATION_MOVED_ON


def test_only_whose_duty_it_is() -> None:
    (governor,) = rows.governors(1)
    office = opened()
    author, engineer = office.holder(Duty.TASK_AUTHOR), office.holder(Duty.EVALUATION_ENGINEER)
    entry = rows.queued(frozen_version("9.0"))

    def suggest(person: Any, verdict: str, **more: str) -> Any:
        return services.suggest(entry.pk, verdict=verdict, reason=WHY, by=acting(person), **more)

    assert refused(lambda: suggest(engineer, "rotate")) is Reason.NOT_ENTITLED
    assert refused(lambda: suggest(author, "rotate")) is Reason.NOT_ENTITLED
    assert refused(lambda: suggest(governor, "retire")) is Code.ROTATION_NO_GROUND
    suggest(author, "retire", ground="outdated")
    assert refused(lambda: services.confirm(entry.pk, by=acting(engineer))) is Reason.NOT_ENTITLED
    assert services.confirm(entry.pk, by=acting(governor)).state == "retiring"


def test_a_task_is_in_the_queue_once_and_only_if_held_out() -> None:
    version = frozen_version("9.0")
    entry = rows.queued(version)
    assert refused(lambda: rows.queued(version, entry.task)) is Code.ROTATION_QUEUED_ALREADY
    public = TaskRevision.objects.get(version=version, slug="general-public-0")
    assert refused(lambda: rows.queued(version, public)) is Code.ROTATION_NOT_HELD_OUT
    other = frozen_version("9.1")
    assert refused(lambda: rows.queued(other, rows.held_out(version)[1])) is Code.ROTATION_NOT_HELD_OUT
    task = rows.held_out(version)[2]
    wordless = refused(lambda: services.propose(version, task, cause="hand", reason=" ", by=BY))
    assert wordless is Reason.NO_REASON


def test_the_clock_moves_entries_on(monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = rows.governors()
    version = frozen_version("9.0")
    tasks = rows.held_out(version)
    waiting, lapsing, watched = (rows.queued(version, task) for task in tasks[:3])
    services.suggest(lapsing.pk, verdict="rotate", reason=WHY, by=acting(one))
    services.suggest(watched.pk, verdict="keep_watching", reason=WHY, by=acting(one))
    services.confirm(watched.pk, by=acting(two))
    assert services.tend(by=BY) == 0
    later = clock.now() + timedelta(days=61)
    monkeypatch.setattr(clock, "now", lambda: later)
    assert services.tend(by=BY) == 3
    found = {row.pk: row for row in RotationEntry.objects.all()}
    assert (found[waiting.pk].state, found[waiting.pk].owner) == ("queued", "administrator")
    assert (found[lapsing.pk].state, found[lapsing.pk].verdict) == ("queued", "")
    assert (found[watched.pk].state, found[watched.pk].decided_by) == ("queued", None)
    assert services.tend(by=BY) == 0


@given(st.lists(st.sampled_from(["suggest", "confirm", "send_back", "clock"]), max_size=30), st.data())
def test_no_state_is_without_an_exit_a_deadline_and_an_owner(steps: list[str], data: st.DataObject) -> None:
    """Over the table alone: the services and the database hold themselves to it."""
    state = "queued"
    for _step in steps:
        if state in policies.ENTRY_ENDS:
            assert state not in policies.ENTRY_MOVES
            break
        assert policies.ENTRY_MOVES[state]
        assert policies.ENTRY_STAYS[state] > timedelta(0)
        state = data.draw(st.sampled_from(policies.ENTRY_MOVES[state]))


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE rotation_rotationentry SET state = 'dismissed', due_at = NULL, owner = ''",
        "UPDATE rotation_rotationentry SET cause = 'hand'",
        "UPDATE rotation_rotationentry SET due_at = NULL",
        "DELETE FROM rotation_rotationentry",
    ],
)
def test_the_database_refuses_what_the_table_does_not_list(statement: str) -> None:
    entry = rows.queued(frozen_version("9.0"))
    with pytest.raises(DatabaseError), recorded_as("rotation_entry", entry.pk):
        typed(statement)


@pytest.mark.parametrize("role", ["web", "execute", "auditor"])
@pytest.mark.parametrize(
    "table", ["rotationentry", "rotationline", "taskprofile", "anchorrun", "rotationplan"]
)
def test_no_process_near_vendors_reads_what_rotates(connect_as: Connect, role: str, table: str) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        connect_as(role).execute(f"SELECT * FROM rotation_{table}")
    connect_as("console").execute("SELECT * FROM rotation_rotationentry")
    connect_as("web").execute("SELECT * FROM rotation_succession")


def test_events_name_no_task(connect_as: Connect) -> None:
    entry = rows.queued(frozen_version("9.0"))
    found = connect_as("auditor").execute("SELECT body FROM audit_event WHERE kind = 'rotation.queued'")
    ((body,),) = found.fetchall()
    text = bytes(body).decode()
    assert str(entry.task_id) not in text
    assert entry.task.slug not in text
