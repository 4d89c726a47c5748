"""Members and invitations as the log tells them, and what each database role may do with their rows."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import psycopg
import pytest

from accounts.members import services as members
from client.audit.rules import Judge, Seen
from tests.access.accounts.test_members import NEW, invited, membership, somebody
from tests.pages.site import signed_in
from tests.submissions import world

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "auditor"])
Connect = Callable[[str], psycopg.Connection[Any]]


@pytest.fixture
def vendor() -> world.Vendor:
    return world.vendor()


def entries(connect: Connect) -> list[dict[str, Any]]:
    rows = connect("auditor").execute("SELECT body FROM audit_event ORDER BY id").fetchall()
    return [json.loads(body) for (body,) in rows]


def complaints(history: list[dict[str, Any]]) -> list[str]:
    judge = Judge()
    return [
        wrong
        for at, body in enumerate(history)
        for wrong in judge.see(Seen(at, body["kind"], body["subject"]["id"], "ok", body["data"], -1))
        if body["kind"].startswith(("organisation.", "invitation.", "duty."))
    ]


def test_the_verifier_follows_members(vendor: world.Vendor, connect_as: Connect) -> None:
    person = somebody()
    signed_in(person).post(invited(vendor))
    row = membership(person)
    members.set_role(row, "owner", by=vendor.actor)
    members.end_membership(row, by=vendor.actor)
    history = entries(connect_as)
    assert complaints(history) == []
    assert NEW not in json.dumps(history)
    without = [body for body in history if body["kind"] != "organisation.member_added"]
    assert any("who is no member" in wrong for wrong in complaints(without))
    ended = next(body for body in history if body["kind"] == "organisation.member_ended")
    owner = next(body for body in history if body["kind"] == "organisation.member_added")
    last = {**ended, "data": {"account": owner["data"]["account"]}}
    assert any("without an owner" in wrong for wrong in complaints([*history, last]))
    accepted = next(body for body in history if body["kind"] == "invitation.accepted")
    assert any("second time" in wrong for wrong in complaints([*history, accepted]))


def test_rights_on_invitations(vendor: world.Vendor, connect_as: Connect) -> None:
    invited(vendor)
    for role in ("execute", "sealed", "auditor"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connect_as(role).execute("SELECT address FROM accounts_invitation")
    for role in ("web", "console"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connect_as(role).execute("UPDATE accounts_invitation SET role = 'owner'")
    with pytest.raises(psycopg.errors.IntegrityError, match="stay on record"):
        connect_as("owner").execute("DELETE FROM accounts_invitation")
