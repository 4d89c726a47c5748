"""The console's pages of rotation: who has them, what they name, what they record."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import psycopg
import pytest

from accounts.duties.table import Duty
from governance.rotation.models import RotationEntry, RotationPlan
from tests.accounts.duties import opened
from tests.factories import frozen_version
from tests.governance.rotation import rows
from tests.governance.rotation.test_plans import DOMAINS
from tests.governance.rotation.test_queue import WHY
from tests.pages.site import address, signed_in

pytestmark = pytest.mark.django_db(transaction=True)
Connect = Callable[[str], psycopg.Connection[Any]]


def kinds(connect_as: Connect) -> list[str]:
    found = connect_as("auditor").execute(
        "SELECT kind FROM audit_event WHERE kind LIKE 'rotation%' OR kind = 'held_out.read' ORDER BY id"
    )
    return [kind for (kind,) in found]


def test_an_entry_from_the_queue_to_its_decision(connect_as: Connect) -> None:
    first, second = (signed_in(person) for person in rows.governors())
    entry = rows.queued(frozen_version("9.0"))
    case, slug = address("rotating:entry", entry.id), entry.task.slug
    for page in (address("rotating:queue"), case):
        shown = first.get(page).content.decode()
        assert str(entry.get_cause_display()) in shown
        assert slug not in shown
        assert str(entry.task_id) not in shown
    assert slug in first.post(address("rotating:reveal", entry.id)).content.decode()
    suggest = address("rotating:act", entry.id, "suggest")
    assert first.post(suggest, {"verdict": "rotate"}).status_code == 422
    assert first.post(suggest, {"verdict": "rotate", "reason": WHY}).status_code == 302
    confirm = address("rotating:act", entry.id, "confirm")
    assert "duty_one_person" in first.post(confirm, follow=True).content.decode()
    assert second.post(confirm).status_code == 302
    assert RotationEntry.objects.get().state == "rotating"
    again = second.post(confirm, follow=True).content.decode()
    assert "rotation_moved_on" in again
    found = kinds(connect_as)
    assert found[:4] == ["rotation.queued", "rotation.read", "held_out.read", "rotation.read"]
    assert found.count("rotation.moved") == 2


def test_a_plan_is_looked_at_and_approved() -> None:
    first, second = (signed_in(person) for person in rows.governors())
    version = frozen_version("9.0", dict.fromkeys(DOMAINS, (2, 40)))
    rows.reserve("r1", dict.fromkeys(DOMAINS, 12))
    rows.profiled(version)
    plan = rows.drawn(version)
    page = address("rotating:plan", plan.id)
    shown = first.get(page).content.decode()
    assert plan.lines_digest in shown
    assert not any(line.task.slug in shown for line in plan.lines.select_related("task"))
    assert first.post(address("rotating:plan_act", plan.id, "submit"), {"reason": WHY}).status_code == 302
    assert second.post(address("rotating:plan_act", plan.id, "approve")).status_code == 302
    assert RotationPlan.objects.get().state == "approved"
    stock = first.get(address("rotating:stock")).content.decode()
    assert "voucher" in stock
    assert "finance-held-out-" not in stock


def test_others_have_no_such_page() -> None:
    office = opened()
    entry = rows.queued(frozen_version("9.0"))
    author = signed_in(office.holder(Duty.TASK_AUTHOR))
    assert author.get(address("rotating:entry", entry.id)).status_code == 200
    assert author.post(address("rotating:reveal", entry.id)).status_code == 404
    for duty in (Duty.EVALUATION_ENGINEER, Duty.IDENTITY_REVIEWER, Duty.ADMINISTRATOR):
        person = signed_in(office.holder(duty))
        assert person.get(address("rotating:queue")).status_code == 404
        assert person.get(address("rotating:entry", entry.id)).status_code == 404


def test_a_page_offers_only_what_this_person_can_do() -> None:
    people, author = rows.governors(), opened().holder(Duty.TASK_AUTHOR)
    first, second = (signed_in(person) for person in people)
    entry = rows.queued(frozen_version("9.0"))
    page, confirm = address("rotating:entry", entry.id), address("rotating:act", entry.id, "confirm")
    reveal = address("rotating:reveal", entry.id)
    first.post(address("rotating:act", entry.id, "suggest"), {"verdict": "rotate", "reason": WHY})
    own, others, authors = (
        browser.get(page).content.decode() for browser in (first, second, signed_in(author))
    )
    assert "You proposed this" in own
    assert "Somebody else proposed this" in others
    assert [confirm in shown for shown in (own, others, authors)] == [False, True, False]
    assert [reveal in shown for shown in (own, others, authors)] == [True, True, False]
