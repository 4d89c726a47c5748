"""`manage.py duties`: the ceremony once, and the answer to who could decide what."""

from __future__ import annotations

import json
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import translation

from accounts import services as accounts
from accounts.duties.smallest import smallest_staff
from accounts.duties.table import CONFLICTS, DUTIES, Decision, Duty
from accounts.models import User
from config import clock
from tests.accounts.duties import Office, member_of_staff, opened
from tests.accounts.test_auditors import appointed
from tests.audit.test_log import Connect
from tests.servers import ROOT
from tests.submissions import world


def said(*arguments: str) -> str:
    out = StringIO()
    call_command("duties", *arguments, stdout=out)
    return out.getvalue()


def facts() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(said("check", "--json"))
    return found


def until(days: int = 90) -> str:
    return f"{clock.now() + timedelta(days=days):%Y-%m-%d}"


@pytest.mark.django_db(transaction=True)
def test_the_ceremony_logs_the_first_events_and_then_refuses(connect_as: Connect) -> None:
    one, two, other = (member_of_staff() for _ in range(3))
    with pytest.raises(CommandError, match="duty_one_person"):
        said("ceremony", str(one.pk), str(one.pseudonym), "--until", until())
    with pytest.raises(CommandError, match="no date"):
        said("ceremony", str(one.pk), str(two.pk), "--until", "soon")
    words = said("ceremony", str(one.pk), str(two.pseudonym), "--until", until())
    assert str(one.pseudonym) in words
    assert one.email not in words
    with pytest.raises(CommandError, match="duties_begun"):
        said("ceremony", str(one.pk), str(other.pk), "--until", until())
    rows = connect_as("auditor").execute(
        "SELECT kind, actor_id FROM audit_event WHERE kind LIKE 'dut%' ORDER BY id"
    )
    kinds = ["duties.begun", *["duty.proposed", "duty.confirmed"] * 2]
    assert rows.fetchall() == [(kind, "duties_ceremony") for kind in kinds]


@pytest.mark.django_db
def test_check_names_who_could_take_each_decision() -> None:
    assert facts()["begun"] is False
    assert "duties ceremony" in said("check")
    office = opened()
    governor = office.holder(Duty.HELD_OUT_GOVERNOR)
    told = facts()
    assert [row["decision"] for row in told["decisions"]] == [decision.value for decision in Decision]
    by_name = {row["decision"]: row for row in told["decisions"]}
    assert by_name["rotation"]["proposers"] == [str(governor.pseudonym)]
    assert by_name["rotation"]["possible"] is False
    assert by_name["withholding"]["possible"] is True
    assert "NOBODY rotation" in said("check")
    office.holder(Duty.HELD_OUT_GOVERNOR)
    assert "ok     rotation" in said("check")


@pytest.mark.django_db
def test_check_says_until_when_there_are_two_administrators() -> None:
    office = opened()
    (row,) = office.first.duties.all()
    assert facts()["two_administrators_until"] == row.ends_at.isoformat()
    third = office.holder(Duty.ADMINISTRATOR)
    assert facts()["two_administrators_until"] >= row.ends_at.isoformat()
    for person in (third, office.second):
        accounts.suspend_user(person, by=world.BY)
    assert facts()["two_administrators_until"] is None
    assert "WARNING" in said("check")


def test_the_document_says_what_the_table_says() -> None:
    text = (ROOT / "docs/held-out-governance.md").read_text(encoding="utf-8")
    number = {9: "nine"}[len(smallest_staff())]
    assert f"**{number} people**" in text
    assert f"({len(CONFLICTS)} pairs, enforced" in text
    section = text.partition("## Duties")[2].partition("**Two people.**")[0]
    for description in DUTIES.values():
        with translation.override("en"):
            assert f"| {description.name} |" in section


@pytest.mark.django_db
def test_with_the_smallest_staff_every_decision_can_be_taken() -> None:
    employ(opened())
    appointed()
    told = facts()
    assert all(row["possible"] for row in told["decisions"])
    assert len(told["staff"]) == len(told["smallest_staff"]) == 9
    assert sorted(told["staff"].values()) == sorted(told["smallest_staff"])
    assert "has 9 people" in said("check")


def employ(office: Office) -> list[User]:
    """What the figure says: seven beside the two of the ceremony, one of them the auditor, who has a term."""
    four = (Duty.TASK_AUTHOR, Duty.EVALUATION_ENGINEER, Duty.SCORING_MAINTAINER, Duty.ARBITER)
    found = [office.holder(duty) for duty in (*four, *[Duty.HELD_OUT_GOVERNOR] * 2)]
    for person, other in ((office.first, office.second), (office.second, office.first)):
        Office(person, other).give(person, Duty.IDENTITY_REVIEWER)
    return found
