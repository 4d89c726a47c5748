"""The access review in the console: what it shows, to whom, and giving and taking duties on its pages."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from accounts.duties import policies
from accounts.duties.models import DutyAssignment
from accounts.duties.table import Duty
from accounts.models import User
from accounts.registration.rules import current
from config import clock
from tests.accounts.duties import Office, member_of_staff, opened
from tests.pages.site import signed_in
from tests.submissions import world

pytestmark = pytest.mark.django_db
REVIEW, NEW = "/en/console/duties/", "/en/console/duties/new/"


@pytest.fixture
def office(db: None) -> Office:
    return opened()


def text_of(client: Client, path: str, language: str = "en") -> str:
    answer = client.get(path.replace("/en/", f"/{language}/"))
    assert answer.status_code == 200
    return " ".join(answer.content.decode().split())


def day(after: int) -> str:
    return f"{clock.now() + timedelta(days=after):%Y-%m-%d}"


def proposal(person: User, **changes: Any) -> dict[str, Any]:
    facts = {"person": str(person.pk), "duty": "arbiter", "begins_at": day(0), "ends_at": day(30)}
    return facts | {"reason": "appeals begin"} | changes


def act(row: DutyAssignment, name: str) -> str:
    return f"{REVIEW}{row.pk}/{name}/"


def test_before_the_ceremony_the_page_says_what_to_do(db: None) -> None:
    text = text_of(signed_in(member_of_staff()), REVIEW)
    assert "manage.py duties ceremony" in text
    assert NEW not in text


def test_two_administrators_give_a_duty_on_the_pages(office: Office) -> None:
    one, two, person = signed_in(office.first), signed_in(office.second), member_of_staff()
    assert "Nothing is held until another administrator" in text_of(one, NEW)
    assert one.post(NEW, proposal(person)).status_code == 302
    (row,) = person.duties.all()
    assert (row.duty, row.confirmed_by, f"{row.ends_at:%Y-%m-%d %H:%M}") == (
        "arbiter",
        None,
        f"{day(30)} 00:00",
    )
    refused = one.post(act(row, "confirm"), {"reason": "mine"})
    assert refused.status_code == 409
    assert "duty_one_person" in refused.content.decode()
    shown = text_of(two, act(row, "confirm"))
    assert "appeals begin" in shown
    assert "duty.confirmed" in shown
    assert two.post(act(row, "confirm"), {"reason": "looked at"}).status_code == 302
    text = text_of(two, REVIEW)
    for words in (person.email, "arbiter", "held", act(row, "review"), act(row, "end")):
        assert words in text
    assert two.post(act(row, "end"), {"reason": ""}).status_code == 200
    assert two.post(act(row, "end"), {"reason": "no appeals"}).status_code == 302
    assert "1 duty that is over" in text_of(two, REVIEW)


def test_what_waits_for_somebody_stands_first(office: Office) -> None:
    holder, waiting = office.holder(Duty.TASK_AUTHOR), member_of_staff()
    later = clock.now() + policies.REVIEW_EVERY + timedelta(days=1)
    office.propose(waiting, Duty.ARBITER, begins_at=later, ends_at=later + timedelta(days=9))
    with clock.frozen(later):
        text = text_of(signed_in(office.first), REVIEW)
    assert "review due" in text
    assert text.index("review due</span>") < text.index("to be confirmed")
    assert holder.email in text


@pytest.mark.parametrize(
    ("changes", "status", "code"),
    [
        ({"duty": "scoring_maintainer"}, 409, "duty_conflict"),
        ({"ends_at": "2098-01-01"}, 409, "duty_too_long"),
        ({"ends_at": "2021-01-01", "begins_at": "2020-12-01"}, 409, "duty_dates"),
        ({"ends_at": "9999-01-01"}, 200, "Give a date"),
        ({"begins_at": "soon"}, 200, "Give a date"),
        ({"duty": "auditor"}, 200, "auditor"),
        ({"reason": ""}, 200, "This field is required"),
    ],
)
def test_a_refusal_has_its_code_and_sentence_and_keeps_what_was_entered(
    office: Office, changes: dict[str, Any], status: int, code: str
) -> None:
    person = office.holder(Duty.TASK_AUTHOR)
    answer = signed_in(office.first).post(NEW, proposal(person, **changes))
    assert answer.status_code == status
    assert code in answer.content.decode()
    assert "appeals begin" in answer.content.decode() or changes.get("reason") == ""
    assert person.duties.count() == 1


def test_refusals_are_said_in_chinese(office: Office) -> None:
    person = office.holder(Duty.TASK_AUTHOR)
    answer = signed_in(office.first).post(
        NEW.replace("/en/", "/zh-hans/"), proposal(person, duty="scoring_maintainer")
    )
    assert "此人在该期间担任与之相斥的职责" in answer.content.decode()
    assert "权限复核" in text_of(signed_in(office.first), REVIEW, "zh-hans")


def test_other_staff_read_and_are_refused(office: Office) -> None:
    row, reader = office.propose(member_of_staff(), Duty.ARBITER), signed_in(member_of_staff())
    text = text_of(reader, REVIEW)
    assert "to be confirmed" in text
    assert act(row, "confirm") not in text
    for path, data in ((act(row, "confirm"), {"reason": "x"}), (NEW, proposal(member_of_staff()))):
        answer = reader.post(path, data)
        assert answer.status_code == 409
        assert "duty_not_administrator" in answer.content.decode()


@pytest.mark.parametrize("name", ["confirm", "review", "end", "else"])
def test_nobody_else_finds_these_pages(office: Office, client: Client, settings: Any, name: str) -> None:
    row = office.propose(member_of_staff(), Duty.ARBITER)
    vendor = signed_in(world.vendor().user)
    assert signed_in(office.first).get(act(row, name)).status_code == (404 if name == "else" else 200)
    for path in (NEW, act(row, name)):
        assert vendor.get(path).status_code == vendor.post(path, {"reason": "x"}).status_code == 404
        assert client.get(path).status_code == 302
    settings.LINGEE_ROLE = "web"
    assert signed_in(office.first).get(act(row, name)).status_code == 404


def test_who_holds_such_a_duty_creates_no_organisation(office: Office) -> None:
    person = office.holder(Duty.TASK_AUTHOR)
    answer = signed_in(person).post(
        "/en/account/organisation/",
        {"name": "My own harnesses", "rules_version": current().version, "accept": "on"},
    )
    assert "duty_holder" in answer.content.decode()
    assert not person.memberships.exists()
