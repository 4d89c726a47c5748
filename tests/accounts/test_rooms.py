"""Audit rooms: two people, some hours, each look an event first; and what the database and the verifier refuse."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import psycopg
import pytest

from accounts.auditors import actor_for, end_term
from accounts.duties.refusals import DutyRefused, Reason
from accounts.duties.table import Duty
from accounts.models import AuditRoom, User
from accounts.rooms import queries, services
from benchmark.models import TaskSetVersion
from client.audit.rules.base import Judge, Seen
from config import clock
from evaluation.models import Attempt, Ending, Episode, TaskResult
from submissions.models import Submission
from tests.accounts.duties import Office, acting, opened
from tests.accounts.test_auditors import appointed
from tests.audit.test_log import Connect
from tests.factories import recorded_as
from tests.pages import site
from tests.pages.site import signed_in
from tests.submissions import world

pytestmark = pytest.mark.django_db
ROOMS, NEW = "/en/console/rooms/", "/en/console/rooms/new/"


@dataclass
class House:
    """Who takes part, and the submission that a room is about."""

    office: Office
    governor: User
    auditor: User
    submission: Submission

    def propose(self, **changes: Any) -> AuditRoom:
        term = changes.pop("term", None) or self.auditor.auditor_terms.get()
        facts: dict[str, Any] = {"hours": 4, "reason": "figures that surprise", "by": acting(self.governor)}
        lineage = self.submission.organisation.lineage_id
        return services.propose(term, self.submission.pk, lineage, **(facts | changes))

    def open(self) -> AuditRoom:
        room = self.propose()
        services.open_room(room, by=acting(self.office.first))
        return room


def housed() -> House:
    """A complete submission, a governor, two administrators and an auditor."""
    office = opened()
    task_set = site.task_set(profile="official")
    submission = site.submission(world.vendor(), task_set)
    site.moved(submission, *site.TO_COMPLETE)
    submission.refresh_from_db()
    return House(office, office.holder(Duty.HELD_OUT_GOVERNOR), appointed().person, submission)


@pytest.fixture
def house(db: None) -> House:
    return housed()


def refused(act: Callable[[], Any]) -> Reason:
    with pytest.raises(DutyRefused) as caught:
        act()
    return caught.value.reason


def test_a_governor_proposes_and_an_administrator_opens(house: House) -> None:
    room = house.propose()
    assert queries.open_room_of(room.term, room.pk) is None
    services.open_room(room, by=acting(house.office.first))
    assert room.closes_at is not None
    assert room.opened_at is not None
    assert room.closes_at - room.opened_at == timedelta(hours=4)
    assert queries.open_room_of(room.term, room.pk) == room
    with clock.frozen(room.closes_at):
        assert queries.open_room_of(room.term, room.pk) is None
    services.end(room, by=acting(house.governor))
    assert queries.open_room_of(room.term, room.pk) is None
    assert refused(lambda: services.end(room, by=acting(house.governor))) is Reason.IS_OVER


def test_who_may_not(house: House) -> None:
    by = acting(house.office.first)
    assert refused(lambda: house.propose(by=by)) is Reason.NOT_ENTITLED
    assert (
        refused(lambda: house.propose(by=actor_for(house.auditor.auditor_terms.get()))) is Reason.NOT_ENTITLED
    )
    assert refused(lambda: house.propose(hours=169)) is Reason.ROOM_HOURS
    assert refused(lambda: house.propose(reason=" ")) is Reason.NO_REASON
    room = house.propose()
    assert refused(lambda: services.open_room(room, by=acting(house.governor))) is Reason.ONE_PERSON
    other = house.office.holder(Duty.EVALUATION_ENGINEER)
    assert refused(lambda: services.open_room(room, by=acting(other))) is Reason.NOT_ENTITLED
    assert refused(lambda: services.end(room, by=acting(other))) is Reason.NOT_ENTITLED
    services.open_room(room, by=by)
    assert refused(lambda: services.open_room(room, by=acting(house.office.second))) is Reason.IS_CONFIRMED
    term = house.auditor.auditor_terms.get()
    end_term(term, by=world.BY)
    assert refused(lambda: house.propose(term=term)) is Reason.TERM_IS_OVER


def test_a_room_ends_with_the_auditors_term(house: House) -> None:
    room = house.propose(hours=168)
    services.open_room(room, by=acting(house.office.first))
    assert room.closes_at == room.term.ends_at


def test_nobody_opens_a_room_about_their_own(house: House) -> None:
    room = house.propose()
    # An administrator sees nothing that vendors must not, and so may be a member of one.
    from accounts import services as accounts

    accounts.add_member(house.submission.organisation, house.office.first, "viewer", by=world.BY)
    assert refused(lambda: services.open_room(room, by=acting(house.office.first))) is Reason.OWN_CASE


def test_typed_sql_is_held_to_the_same_rules(house: House, connect_as: Connect) -> None:
    from django.db import IntegrityError, transaction

    room = house.propose()

    def change(**values: Any) -> str:
        with (
            pytest.raises(IntegrityError) as caught,
            transaction.atomic(),
            recorded_as("audit_room", room.pk),
        ):
            AuditRoom.objects.filter(pk=room.pk).update(**values)
        return str(caught.value.__cause__.diag.constraint_name)

    now = clock.now()
    opening = {"opened_at": now, "closes_at": now + timedelta(hours=4)}
    assert change(**opening, opened_by=house.governor) == "room_two_people"
    later = opening | {"closes_at": now + timedelta(hours=5)}
    assert change(**later, opened_by=house.office.first) == "room_hours"
    services.open_room(room, by=acting(house.office.first))
    assert change(opened_by=house.office.second) == "duty_is_confirmed"
    for role in ("web", "execute", "sealed", "sequencer"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connect_as(role).execute("SELECT FROM accounts_auditroom")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        connect_as("console").execute("UPDATE accounts_auditroom SET hours = 9")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        connect_as("auditor").execute("UPDATE accounts_auditroom SET ended_at = now()")


def result_of(submission: Submission, task_set: TaskSetVersion) -> str:
    """One held-out result of the submission; the name of its task."""
    task = task_set.tasks.filter(group="held_out").order_by("slug").first()
    assert task is not None
    episode = Episode.objects.get(run=submission.held_out_run, task=task, run_index=0)
    attempt = Attempt.objects.create(episode=episode, number=9, fence=9, worker="w", started_at=clock.now())
    TaskResult.objects.create(
        episode=episode,
        attempt=attempt,
        score="0.5",
        success=False,
        failure_type="missing_deliverable",
        ending=Ending.FINISHED,
        seconds=1.5,
        grader_version="1",
        graded_at=clock.now(),
    )
    return task.slug


def readers_of(auditor: psycopg.Connection[Any], room: AuditRoom) -> list[str]:
    rows = auditor.execute(
        "SELECT body FROM audit_event WHERE kind = 'audit_room.read' AND subject_id = %s", [str(room.pk)]
    )
    return [json.loads(bytes(body))["actor"]["id"] for (body,) in rows]


@pytest.mark.django_db(transaction=True)
def test_on_the_pages(house: House, connect_as: Connect) -> None:
    task = result_of(house.submission, house.submission.task_set)
    governor, administrator = signed_in(house.governor), signed_in(house.office.first)
    auditor = signed_in(house.auditor)
    facts = {"term": str(house.auditor.auditor_terms.get().pk), "submission": str(house.submission.pk)}
    facts |= {"hours": "4", "reason": "figures that surprise"}
    assert administrator.post(NEW, facts).status_code == 409
    assert governor.post(NEW, facts).status_code == 302
    (room,) = AuditRoom.objects.all()
    inside = f"/en/audit/rooms/{room.pk}/"
    assert auditor.get(inside).status_code == 404
    opening = f"{ROOMS}{room.pk}/open/"
    answer = governor.post(opening)
    assert (answer.status_code, "duty_one_person" in answer.content.decode()) == (409, True)
    assert "figures that surprise" in administrator.get(opening).content.decode()
    assert administrator.post(opening).status_code == 302
    assert f"{room.pk}" in auditor.get("/en/audit/rooms/").content.decode()
    shown = auditor.get(inside).content.decode()
    assert task in shown
    assert "missing_deliverable" in shown
    assert readers_of(connect_as("auditor"), room) == [str(house.auditor.pseudonym)]
    other = signed_in(appointed().person)
    assert other.get(inside).status_code == 404
    assert governor.get(inside).status_code == 404
    assert administrator.post(f"{ROOMS}{room.pk}/end/").status_code == 302
    assert auditor.get(inside).status_code == 404
    for language in ("en", "zh-hans"):
        page = administrator.get(ROOMS.replace("/en/", f"/{language}/")).content.decode()
        assert {"en": "over", "zh-hans": "已结束"}[language] in page


def story(*events: tuple[str, dict[str, Any]]) -> list[str]:
    judge, found = Judge(), []
    for position, (kind, data) in enumerate(events):
        found += judge.see(Seen(position, f"audit_room.{kind}", "r", "ok", data, -1))
    return found


PROPOSED = ("proposed", {"term": "t", "submission": "s", "hours": 4, "proposed_by": "a", "reason": "x"})
OPENED = ("opened", {"opened_by": "b", "at": "2026-01-01", "closes": "2026-01-02"})
READ = ("read", {"representation": "x", "surface": "y"})
ENDED = ("ended", {"ended_by": "b", "at": "2026-01-01"})


def test_the_verifier_knows_how_a_room_goes() -> None:
    assert story(PROPOSED, OPENED, READ, ENDED) == []
    assert story(PROPOSED, ENDED) == []
    alone = ("opened", OPENED[1] | {"opened_by": "a"})
    for wrong, said in [
        ((OPENED,), "no earlier entry proposes"),
        ((PROPOSED, READ), "was not opened"),
        ((PROPOSED, alone), "one person alone"),
        ((PROPOSED, OPENED, OPENED), "a second time"),
        ((PROPOSED, OPENED, ENDED, READ), "ended before"),
        ((("proposed", PROPOSED[1] | {"hours": 200}),), "200 hours"),
    ]:
        assert any(said in text for text in story(*wrong)), said
