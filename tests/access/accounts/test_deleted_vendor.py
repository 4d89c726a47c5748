"""A vendor's account is deleted: its events stay, under a pseudonym that leads to nobody, and none can be touched."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from io import StringIO
from typing import Any

import psycopg
import pytest
from django.core.management import CommandError, call_command

from accounts import services as accounts
from audit import live, replay
from tests.audit.conftest import figure
from tests.audit.test_live import ARRANGED, unguarded
from tests.pages import site
from tests.servers import Servers
from tests.submissions import world

pytestmark = [
    pytest.mark.django_db(transaction=True, databases=["default", "auditor"]),
    pytest.mark.case("G43"),
    pytest.mark.acceptance("access:1"),
]
Connect = Callable[[str], psycopg.Connection[Any]]
COLUMNS = (
    "body, leaf_hash, kind, subject_type, subject_id, actor_kind, actor_id, organisation_id, channel, outcome, "
    "recorded_at, transaction"
)
SWAPPED = (
    "UPDATE audit_event one SET body = other.body, leaf_hash = other.leaf_hash, kind = other.kind, "
    "subject_type = other.subject_type, subject_id = other.subject_id, actor_kind = other.actor_kind, "
    "actor_id = other.actor_id, organisation_id = other.organisation_id, channel = other.channel, "
    "outcome = other.outcome FROM audit_event other "
    "WHERE (one.id, other.id) IN ((%(it)s, %(next)s), (%(next)s, %(it)s))"
)
TOUCHED: dict[str, str] = {
    "changed": "UPDATE audit_event SET body = convert_to(replace(convert_from(body, 'UTF8'), "
    '\'"outcome":"ok"\', \'"outcome":"no"\'), \'UTF8\') WHERE id = %(it)s',
    "deleted": "DELETE FROM audit_event WHERE id = %(it)s",
    "swapped": SWAPPED,
}


@pytest.fixture(autouse=True)
def _ledgers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the tables that only a real task bank fills."""
    kept = [ledger for ledger in replay.ledgers() if not ledger.table.startswith(ARRANGED)]
    monkeypatch.setattr(live, "ledgers", lambda: kept)


@pytest.fixture
def gone(servers: Any, sequence: Callable[[], int]) -> tuple[world.Vendor, str]:
    """A vendor who submitted and was then deleted, with the address they had."""
    vendor = world.vendor()
    address = vendor.user.email
    vendor.submit(site.task_set(), vendor.harness())
    accounts.erase_person(vendor.user, by=world.BY)
    sequence()
    return vendor, address


def verify() -> dict[str, Any]:
    said = StringIO()
    with suppress(CommandError):
        call_command("audit", "verify", "--json", stdout=said)
    found: dict[str, Any] = json.loads(said.getvalue())
    return found


def test_the_events_stay_under_the_pseudonym_and_verify(
    gone: tuple[world.Vendor, str], connect_as: Connect
) -> None:
    vendor, address = gone
    rows = (
        connect_as("auditor").execute("SELECT kind, actor_id, body FROM audit_event ORDER BY id").fetchall()
    )
    theirs = {kind for kind, actor, _ in rows if actor == str(vendor.user.pseudonym)}
    assert {"harness.registered", "submission.admitted"} <= theirs
    assert not [kind for kind, _, body in rows if address.encode() in bytes(body)]
    assert verify()["ok"] is True


@pytest.mark.parametrize("how", [*TOUCHED, "inserted"])
@pytest.mark.parametrize("kind", ["submission.admitted", "person.erased"])
def test_whatever_row_is_touched_the_first_bad_one_is_named(
    gone: tuple[world.Vendor, str], servers: Servers, how: str, kind: str
) -> None:
    with unguarded(servers, "audit_event") as database:
        it = figure(database, "SELECT max(id) FROM audit_event WHERE kind = %s", kind)
        # For a swap its neighbour before it, which then is the first bad row.
        before = figure(database, "SELECT max(id) FROM audit_event WHERE id < %s", it)
        if how == "inserted":
            bad = figure(
                database,
                f"INSERT INTO audit_event ({COLUMNS}) SELECT {COLUMNS} FROM audit_event WHERE id = %s "
                "RETURNING id",
                it,
            )
            place = None
        else:
            database.execute(TOUCHED[how], {"it": it, "next": before})
            bad = before if how == "swapped" else it
            place = figure(database, "SELECT position FROM audit_entry WHERE event_id = %s", bad)
    found = verify()
    assert found["ok"] is False
    first = found["findings"][0]
    assert (first["event"], first["position"]) == (bad, place)
