"""The check of the live database meets events that no service of ours would write."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import psycopg
import pytest

from audit import explore, live, replay
from tests.audit.conftest import add_events, figure
from tests.audit.test_live import Sequence, _ledgers, checked, unguarded  # noqa: F401 - fixtures
from tests.servers import Servers

pytestmark = [
    pytest.mark.django_db(transaction=True, databases=["default", "auditor"]),
    pytest.mark.acceptance("log:2"),
]


def said_by_a_role(web: psycopg.Connection[Any], kind: str, subject: str, **data: object) -> None:
    """An event of the right form whose facts no service would write."""
    facts = {
        "actor": {"channel": "web", "id": "p", "kind": "person"},
        "data": data,
        "kind": kind,
        "nonce": "0" * 32,
        "outcome": "ok",
        "schema": "event/1",
        "subject": {"id": subject, "type": "submission"},
        "time": "2026-11-01T00:00:00.000000Z",
        "version": 1,
    }
    web.execute("INSERT INTO audit_event (body) VALUES (%s)", [json.dumps(facts).encode()])


@pytest.mark.parametrize("values", ["x", [1], {"a": 1}, {"a": {"value": "1"}}])
def test_facts_that_cannot_be_replayed_are_a_finding_and_hide_no_other(
    values: object,
    connect_as: Callable[[str], Any],
    sequence: Sequence,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wanted = [found for found in replay.ledgers() if found.table in ("governance_release", "audit_witness")]
    monkeypatch.setattr(live, "ledgers", lambda: wanted)
    web = connect_as("web")
    said_by_a_role(web, "result.released", "s-1", values=values)
    said_by_a_role(web, "witness.registered", "w-1", name="gone", vkey="v")
    sequence()
    found = {(item.table, item.row): item for item in checked().findings}
    assert found["governance_release", "s-1"].position == 0
    assert found["governance_release", "s-1"].what == "the row is gone"
    assert found["audit_witness", "w-1"].what == "the row is gone"


def test_a_body_nested_without_end_is_a_finding(
    connect_as: Callable[[str], Any], sequence: Sequence, servers: Servers
) -> None:
    add_events(connect_as("web"), 3)
    sequence()
    deep = b'{"schema":"event/1","data":' + b"[" * 3000 + b"]" * 3000 + b"}"
    with unguarded(servers, "audit_event") as database:
        target = figure(database, "SELECT event_id FROM audit_entry WHERE position = 1")
        database.execute("UPDATE audit_event SET body = %s WHERE id = %s", [deep, target])
    assert {item.position for item in checked().findings} == {1}
    detail = explore.event(target)
    assert detail is not None
    assert detail.row.body == {}
