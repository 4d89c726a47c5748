"""Opening a task set under the official policy takes two people; the demo's says that it is a demo."""

from __future__ import annotations

import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from accounts.duties.table import Duty
from client.audit.rules.base import Judge, Seen
from submissions.models import QuotaPolicy
from tests.accounts.duties import Office, opened
from tests.audit.test_log import Connect
from tests.pages import site

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def office(transactional_db: None) -> Office:
    return opened()


def open_set(label: str, *people: Any, profile: str = "official") -> str:
    out = StringIO()
    budget = ["--budget", "1335"] if profile == "official" else []
    by = [part for person in people for part in ("--by", person.email)]
    call_command("taskset", "open", label, "--profile", profile, *budget, *by, stdout=out)
    return out.getvalue()


def test_two_people_are_behind_the_official_policy(office: Office, connect_as: Connect) -> None:
    version = site.frozen_set()
    engineer, governor = office.holder(Duty.EVALUATION_ENGINEER), office.holder(Duty.HELD_OUT_GOVERNOR)
    author = office.holder(Duty.TASK_AUTHOR)
    for people in [(), (governor,), (governor, governor), (governor, engineer), (author, governor)]:
        with pytest.raises(CommandError, match=r"decision_not_entitled|duty_one_person"):
            open_set(version.label, *people)
    assert not QuotaPolicy.objects.filter(task_set=version).exists()
    assert "official policy" in open_set(version.label, engineer, governor)
    rows = connect_as("auditor").execute(
        "SELECT body FROM audit_event WHERE kind IN ('quota.policy_set', 'release_policy.set')"
    )
    named = [json.loads(bytes(body))["data"]["people"] for (body,) in rows]
    assert named == [[str(engineer.pseudonym), str(governor.pseudonym)]] * 2


def test_the_demo_policy_needs_nobody(office: Office) -> None:
    version = site.frozen_set()
    assert "demo policy" in open_set(version.label, profile="demo")


@pytest.mark.parametrize(("people", "wrong"), [(None, 0), (["a", "b"], 0), (["a", "a"], 1), (["a"], 1)])
def test_the_verifier_counts_the_people(people: list[str] | None, wrong: int) -> None:
    data = {"profile": "official", "rules": {}, "valid_from": "2026-01-01"}
    seen = Seen(0, "quota.policy_set", "t", "ok", data | ({"people": people} if people else {}), 99)
    found = [text for text in Judge().see(seen) if "behind the policy" in text]
    assert len(found) == wrong
