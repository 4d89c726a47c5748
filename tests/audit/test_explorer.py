"""Looking things up as an auditor: filters, pages by keyset, one event with its proof."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import psycopg
import pytest
from django.db import ProgrammingError, connections, transaction
from django.db.utils import InternalError

from audit import explore, withholding
from audit.events import Actor
from audit.merkle.note import Verifier
from audit.merkle.proof import Proof, verify
from audit.queries import verifier_keys

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "auditor"])
Connect = Callable[[str], psycopg.Connection[Any]]
ONE, OTHER = "01900000-0000-7000-8000-000000000001", "01900000-0000-7000-8000-000000000002"


def body(number: int, **changes: Any) -> bytes:
    """An event with every field that can be filtered by; `number` is its subject."""
    facts: dict[str, Any] = {
        "actor": {"channel": "web", "id": "p1", "kind": "person", "organisation": ONE},
        "data": {},
        "kind": "test.even" if number % 2 == 0 else "test.odd",
        "nonce": "00" * 16,
        "outcome": "ok",
        "schema": "event/1",
        "subject": {"id": f"s{number}", "type": "test"},
        "time": "2026-11-01T00:00:00.000000Z",
        "version": 1,
    }
    return json.dumps(facts | changes, sort_keys=True, separators=(",", ":")).encode()


def record(web: psycopg.Connection[Any], *bodies: bytes) -> None:
    with web.cursor() as cursor:
        cursor.executemany("INSERT INTO audit_event (body) VALUES (%s)", [(row,) for row in bodies])


def subjects(page: explore.Page) -> list[str]:
    return [row.subject_id for row in page.rows]


def test_pages_follow_one_another_both_ways_and_stay_put_while_the_log_grows(connect_as: Connect) -> None:
    web = connect_as("web")
    record(web, *(body(number) for number in range(10)))
    every = explore.Filter()
    first = explore.events(every, limit=4)
    assert (subjects(first), first.newer) == (["s9", "s8", "s7", "s6"], None)
    second = explore.events(every, before=first.older, limit=4)
    assert subjects(second) == ["s5", "s4", "s3", "s2"]
    record(web, body(10), body(11))
    assert explore.events(every, before=first.older, limit=4) == second
    last = explore.events(every, before=second.older, limit=4)
    assert (subjects(last), last.older) == (["s1", "s0"], None)
    back = explore.events(every, after=last.newer, limit=4)
    assert subjects(back) == subjects(second)
    assert subjects(explore.events(every, after=back.newer, limit=4)) == ["s9", "s8", "s7", "s6"]
    newest = explore.events(every, after=first.rows[0].id, limit=4)
    assert (subjects(newest), newest.newer) == (["s11", "s10"], None)


def test_each_filter_lets_through_what_it_names(connect_as: Connect) -> None:
    web = connect_as("web")
    actor = {"channel": "api", "id": "t1", "kind": "token", "organisation": OTHER}
    record(web, body(0), body(1), body(2, actor=actor), body(3, outcome="fault"))
    record(web, body(4, subject={"id": "s4", "type": "other"}, kind="plain.thing"))
    wanted: list[tuple[dict[str, Any], list[str]]] = [
        ({"kind": "test.odd"}, ["s3", "s1"]),
        ({"kind": "test."}, ["s3", "s2", "s1", "s0"]),
        ({"actor": "t1"}, ["s2"]),
        ({"actor_kind": "token"}, ["s2"]),
        ({"organisation": OTHER}, ["s2"]),
        ({"channel": "api"}, ["s2"]),
        ({"outcome": "fault"}, ["s3"]),
        ({"subject_type": "other"}, ["s4"]),
        ({"subject_type": "test", "subject_id": "s1"}, ["s1"]),
        ({"kind": "test.odd", "outcome": "fault"}, ["s3"]),
        ({"organisation": ONE, "actor_kind": "token"}, []),
    ]
    for fields, expected in wanted:
        assert subjects(explore.events(explore.Filter(**fields))) == expected, fields


def test_from_is_included_and_until_is_not(connect_as: Connect) -> None:
    record(connect_as("web"), body(0), body(1), body(2))
    times = {row.subject_id: row.recorded_at for row in explore.events(explore.Filter()).rows}
    found = explore.events(explore.Filter(since=times["s1"], until=times["s2"]))
    assert subjects(found) == ["s1"]
    assert not explore.events(explore.Filter(since=datetime(2100, 1, 1, tzinfo=UTC))).rows


def test_an_event_stands_with_a_proof_that_others_can_check(
    connect_as: Connect, sequence: Callable[[], int]
) -> None:
    web = connect_as("web")
    record(web, *(body(number) for number in range(7)))
    waiting = explore.events(explore.Filter(subject_id="s5")).rows[0]
    assert waiting.position is None
    found = explore.event(waiting.id)
    assert found is not None
    assert found.proof is None
    assert found.leaf == hashlib.sha256(b"\x00" + body(5)).digest()
    sequence()
    found = explore.event(waiting.id)
    assert found is not None
    assert (found.row.position, found.exact) == (5, body(5))
    assert explore.event_at(5) == waiting.id
    assert found.proof is not None
    (key,) = [Verifier.parse(text) for text in verifier_keys()]
    assert verify(Proof.parse(found.proof.format()), body(5), [key]).size == 7
    assert explore.event(10**9) is None
    assert explore.event_at(7) is None


def test_through_the_alias_nothing_is_written_and_nothing_sealed_is_read() -> None:
    with connections["auditor"].cursor() as cursor:
        cursor.execute("SELECT current_user, current_setting('transaction_read_only')")
        assert cursor.fetchone() == ("lingee_auditor", "on")
    refused: list[tuple[str, Any]] = [
        ("INSERT INTO audit_event (body) VALUES ('x')", (InternalError, ProgrammingError)),
        ("CREATE TEMPORARY TABLE mine (id int)", (InternalError, ProgrammingError)),
        ("SELECT * FROM evaluation_taskresult", ProgrammingError),
        ("SELECT email FROM accounts_user", ProgrammingError),
        ("SELECT * FROM benchmark_taskrevision", ProgrammingError),
    ]
    for statement, error in refused:
        with (
            pytest.raises(error),
            transaction.atomic(using="auditor"),
            connections["auditor"].cursor() as cursor,
        ):
            cursor.execute(statement)


def test_filters_do_not_tell_what_a_withheld_event_says(
    connect_as: Connect, sequence: Callable[[], int]
) -> None:
    """It stands in lists by place, instant and kind, and in none that is asked for by anything else."""
    record(connect_as("web"), body(0, outcome="rare"), body(2, outcome="rare"))
    sequence()
    people = [Actor(kind="person", id=name) for name in ("one", "two")]
    withholding.withhold(0, "law", asked=people[0], agreed=people[1])
    for guess in (
        explore.Filter(outcome="rare"),
        explore.Filter(outcome="rare", kind="test."),
        explore.Filter(subject_type="test"),
    ):
        assert subjects(explore.events(guess)) == ["s2"]
    assert subjects(explore.events(explore.Filter(subject_id="s0"))) == []
    assert subjects(explore.events(explore.Filter(kind="test."))) == ["s2", ""]
    size = sequence()
    with pytest.raises(withholding.WithholdingRefused, match="what is withheld"):
        withholding.withhold(size - 1, "law", asked=people[0], agreed=people[1])
