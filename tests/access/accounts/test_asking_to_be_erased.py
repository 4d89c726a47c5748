"""Somebody asks to be erased on their own page; staff carry it out; who is still needed is told why not."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from io import StringIO
from typing import Any

import psycopg
import pytest
from django.core.management import call_command

from accounts.models import Membership, User
from accounts.security import erasure
from submissions.policies import states
from tests.factories import saved
from tests.pages import site
from tests.pages.site import address, proofs, signed_in
from tests.submissions import world

pytestmark = pytest.mark.django_db(transaction=True)
Connect = Callable[[str], psycopg.Connection[Any]]


def kinds(connect: Connect, vendor: world.Vendor) -> list[str]:
    rows = connect("auditor").execute(
        "SELECT kind FROM audit_event WHERE subject_id = %s ORDER BY id", [str(vendor.user.pseudonym)]
    )
    return [kind for (kind,) in rows]


@pytest.mark.case("G43")
@pytest.mark.acceptance("access:1")
def test_asked_taken_back_asked_and_carried_out(connect_as: Connect) -> None:
    vendor = world.vendor()
    client, page = signed_in(vendor.user), address("accounts:erase")
    assert b"cannot be undone" in client.get(page).content
    for _ in range(3):  # asked, taken back, asked
        assert client.post(page).status_code == 302
    assert User.objects.get(pk=vendor.user.pk).erased_at is None
    assert kinds(connect_as, vendor)[-3:] == ["erasure.asked", "erasure.withdrawn", "erasure.asked"]
    said = StringIO()
    call_command("erase_person", "--asked", stdout=said)
    assert f"{vendor.user.pseudonym} is erased" in said.getvalue()
    assert kinds(connect_as, vendor)[-1] == "person.erased"
    assert client.get(page).status_code == 302
    call_command("erase_person", "--asked", stdout=said)
    assert said.getvalue().count("is erased") == 1


def test_only_who_has_just_proved_who_they_are() -> None:
    vendor = world.vendor()
    client = signed_in(vendor.user)
    session = client.session
    old = proofs(vendor.user, "password", "mfa")
    for record in old["account_authentication_methods"]:  # type: ignore[attr-defined]
        record["at"] -= timedelta(minutes=16).total_seconds()
    session.update(old)
    session.save()
    assert client.post(address("accounts:erase")).status_code in (302, 403)
    assert erasure.request_of(vendor.user) is None


def test_a_sole_owner_with_submissions_under_way_stays() -> None:
    vendor = world.vendor()
    running = vendor.submit(site.task_set(), vendor.harness())
    client, page = signed_in(vendor.user), address("accounts:erase")
    answer = client.post(page)
    assert (answer.status_code, b"erasure_sole_owner" in answer.content) == (409, True)
    assert erasure.request_of(vendor.user) is None
    other = world.colleague(vendor)
    mate = Membership.objects.get(user=other.user)
    mate.role = "owner"
    saved(mate)
    assert client.post(page).status_code == 302
    mate.role = "viewer"
    saved(mate)
    erasure.withdraw(vendor.user, by=vendor.actor)
    site.moved(running, *site.TO_COMPLETE)
    assert client.post(page).status_code == 302


def test_the_ends_are_those_of_submissions() -> None:
    assert set(erasure.ENDED) == states.ENDS
