"""The event table: exact bytes, inside the caller's transaction, and nothing that takes anything back."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, ClassVar

import psycopg
import pytest
from django.db import transaction
from hypothesis import given
from hypothesis import strategies as st

from audit import log
from audit.canonical import NotCanonical, canonical_bytes, leaf_hash
from audit.events import Event, system

Connect = Callable[[str], psycopg.Connection[Any]]


class Tested(Event):
    __test__: ClassVar[bool] = False
    kind: ClassVar[str] = "test.happened"
    subject_type: ClassVar[str] = "test"
    facts_of_it: dict[str, int] = {}  # noqa: RUF012 - pydantic copies it


def stored(connection: psycopg.Connection[Any], identifier: int) -> tuple[Any, ...]:
    columns = "body, leaf_hash, kind, subject_id, actor_id, organisation_id, channel, outcome"
    row = connection.execute(f"SELECT {columns} FROM audit_event WHERE id = %s", [identifier]).fetchone()
    assert row is not None
    return row


@pytest.mark.django_db(transaction=True)
def test_an_event_is_stored_as_the_bytes_that_were_hashed(connect_as: Connect) -> None:
    with transaction.atomic():
        identifier = log.append(Tested(subject="s-1", facts_of_it={"b": 2, "a": 1}), by=system("clock"))
    body, leaf, kind, subject, actor, organisation, channel, outcome = stored(
        connect_as("auditor"), identifier
    )
    entry = json.loads(body)
    assert body == canonical_bytes(entry)
    assert leaf == leaf_hash(body)
    assert (kind, subject, actor) == ("test.happened", "s-1", "clock")
    assert (organisation, channel, outcome) == ("", "system", "ok")
    assert len(bytes.fromhex(entry["nonce"])) == 16


@pytest.mark.django_db(transaction=True)
def test_an_event_needs_the_transaction_of_its_change_and_goes_with_it(connect_as: Connect) -> None:
    with pytest.raises(log.OutsideTransaction):
        log.append(Tested(subject="s"), by=system("test"))
    with transaction.atomic():
        log.append(Tested(subject="gone"), by=system("test"))
        transaction.set_rollback(True)
    rows = (
        connect_as("auditor").execute("SELECT count(*) FROM audit_event WHERE subject_id = 'gone'").fetchone()
    )
    assert rows == (0,)


REFUSED = [
    "UPDATE audit_event SET body = body",
    "DELETE FROM audit_event",
    "TRUNCATE audit_event",
    "INSERT INTO audit_event (id, body) VALUES (1, '{}')",
    "INSERT INTO audit_event (body, recorded_at) VALUES ('{}', now())",
    "SELECT body FROM audit_event",
    "SET session_replication_role = replica",
    "ALTER TABLE audit_event DISABLE TRIGGER ALL",
]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("role", ["web", "execute", "sealed", "console"])
@pytest.mark.parametrize("statement", REFUSED)
def test_no_serving_role_can_change_or_read_events(connect_as: Connect, role: str, statement: str) -> None:
    with pytest.raises(psycopg.Error):
        connect_as(role).execute(statement)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("statement", REFUSED[:3])
def test_even_the_owner_is_refused(connect_as: Connect, statement: str) -> None:
    with transaction.atomic():
        log.append(Tested(subject="s"), by=system("test"))
    with pytest.raises(psycopg.Error, match="append-only"):
        connect_as("owner").execute(statement)


def test_a_kind_is_declared_once() -> None:
    with pytest.raises(TypeError, match=r"test\.happened"):
        type("Again", (Event,), {"kind": "test.happened", "subject_type": "x", "__module__": __name__})


@pytest.mark.parametrize("value", [1.5, None, True, {"x": b"bytes"}, {1: "a"}])
def test_what_has_no_canonical_form_is_refused(value: object) -> None:
    with pytest.raises(NotCanonical):
        canonical_bytes({"data": value})


def test_an_event_has_a_size_limit() -> None:
    with pytest.raises(NotCanonical, match="at most 16384"):
        canonical_bytes({"data": "x" * 16384})


def raw(**changes: object) -> bytes:
    """An event as a role can send it without `log.append`."""
    facts: dict[str, object] = {
        "actor": {"channel": "web", "id": "p", "kind": "person"},
        "data": {},
        "kind": "test.happened",
        "nonce": "0f" * 16,
        "outcome": "ok",
        "schema": "event/1",
        "subject": {"id": "s", "type": "test"},
        "time": "2026-11-01T00:00:00.000000Z",
        "version": 1,
    }
    return json.dumps(facts | changes).encode()


def nested(levels: int) -> dict[str, object]:
    """Data that makes the event this many objects and lists deep, with a number in the innermost."""
    found: object = 1
    for _ in range(levels - 2):
        found = [found]
    return {"x": found}


PERSON = {"channel": "web", "id": "p", "kind": "person"}
BAD_FORMS: list[dict[str, object]] = [
    {"kind": {"a": 1}},
    {"kind": 3},
    {"outcome": []},
    {"outcome": None},
    {"subject": "s"},
    {"subject": {"id": {"a": 1}, "type": "test"}},
    {"subject": {"id": "s", "type": 1}},
    {"subject": {"id": "s"}},
    {"actor": "p"},
    {"actor": PERSON | {"id": [1]}},
    {"actor": PERSON | {"kind": None}},
    {"actor": PERSON | {"channel": {}}},
    {"actor": PERSON | {"organisation": {"a": 1}}},
    {"nonce": "0F" * 16},
    {"nonce": "0f" * 15},
    {"nonce": 1},
    {"version": "1"},
    {"time": {"a": 1}},
    {"data": []},
    {"data": "x"},
    {"data": None},
    {"data": nested(33)},
    {"data": nested(700)},
    {"schema": "event/2"},
    {"kind": "k" * 65},
    {"outcome": "o" * 33},
    {"subject": {"id": "s" * 65, "type": "test"}},
    {"subject": {"id": "s", "type": "t" * 33}},
    {"actor": PERSON | {"id": "p" * 65}},
    {"actor": PERSON | {"kind": "k" * 17}},
    {"actor": PERSON | {"channel": "c" * 17}},
    {"actor": PERSON | {"organisation": "o" * 65}},
]


@pytest.mark.django_db(transaction=True)
def test_only_events_of_the_one_form_are_taken(connect_as: Connect) -> None:
    """What is appended stays, so nothing may get in that readers fail on."""
    web = connect_as("web")
    insert = "INSERT INTO audit_event (body) VALUES (%s)"
    taken = []
    for changes in BAD_FORMS:
        try:
            web.execute(insert, [raw(**changes)])
        except psycopg.errors.CheckViolation:
            continue
        taken.append(changes)
    assert [str(changes)[:80] for changes in taken] == []
    good: list[dict[str, object]] = [{}, {"data": nested(32)}, {"actor": PERSON | {"organisation": "o"}}]
    good += [{"kind": "é" * 64}, {"subject": {"id": "é" * 64, "type": "t" * 32}}]
    for changes in good:
        web.execute(insert, [raw(**changes)])


@pytest.mark.django_db(transaction=True)
def test_no_type_of_a_role_s_own_stands_in_for_the_checked_one(connect_as: Connect) -> None:
    """As json, the body could hold half a surrogate pair, which no UTF-8 can write."""
    web = connect_as("web")
    web.execute("CREATE DOMAIN pg_temp.jsonb AS json")
    with pytest.raises(psycopg.Error):
        web.execute("INSERT INTO audit_event (body) VALUES (%s)", [raw(data={"x": "\ud800"})])


JSON = st.recursive(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=20) | st.integers(-(2**53), 2**53),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text("abcé", max_size=4), inner, max_size=4)
    ),
    max_leaves=20,
)


@given(st.dictionaries(st.text("abc", min_size=1, max_size=3), JSON, max_size=4))
def test_canonical_bytes_are_a_fixed_point(body: dict[str, Any]) -> None:
    data = canonical_bytes(body)
    assert canonical_bytes(json.loads(data)) == data
