"""The public log: what anyone may fetch, how far, and from when; and what witnesses may hand in."""

from __future__ import annotations

import base64
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from io import StringIO
from typing import Any

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from audit.merkle.checkpoint import Checkpoint, open_checkpoint
from audit.merkle.note import Cosigner, Verifier, add_signature, generate_key, parse_note
from audit.merkle.tree import node_hash, verify_consistency
from client.audit.trust import parse_keys
from config import clock
from tests.audit.conftest import Connection, add_events, figure

pytestmark = pytest.mark.django_db(transaction=True)
Connect = Callable[[str], psycopg.Connection[Any]]
Sequence = Callable[[], int]
NOON = datetime(2026, 11, 2, 12, tzinfo=UTC)


def get(path: str, status: int = 200, **query: str | int) -> Any:
    answer = Client().get(f"/log/{path}", query)
    assert answer.status_code == status, answer.content
    assert "Set-Cookie" not in answer.headers
    return answer


def refused(path: str, status: int, code: str, **query: str | int) -> None:
    answer = get(path, status, **query)
    assert answer["Content-Type"] == "application/problem+json"
    assert answer.json()["code"] == code


def grow(web: Connection, sequence: Sequence, *counts: int) -> list[int]:
    """One checkpoint after each of these many further events; the sizes."""
    sizes = []
    for count in counts:
        add_events(web, count)
        sizes.append(sequence())
    return sizes


def test_an_empty_log_says_so(servers: Any) -> None:
    refused("checkpoint", 404, "log_empty")
    assert get("checkpoints").json() == {"checkpoints": [], "next": None}
    assert get("keys").content == get("witnesses").content == b""


def test_anyone_follows_the_log_with_its_key_alone(connect_as: Connect, sequence: Sequence) -> None:
    old, new = grow(connect_as("web"), sequence, 5, 1000)
    key = Verifier.parse(get("keys").content.decode())
    first, last = (open_checkpoint(get(f"checkpoint/{size}").content.decode(), [key]) for size in (old, new))
    assert get("checkpoint").content == get(f"checkpoint/{new}").content
    answer = get("consistency", **{"from": old, "to": new})
    proof = [base64.b64decode(line) for line in answer.content.decode().splitlines()]
    verify_consistency(old, first.root, new, last.root, proof)
    assert get("consistency", **{"from": new, "to": new}).content == b""
    rows = get("checkpoints").json()["checkpoints"]
    assert [row["size"] for row in rows] == [new, old]
    assert base64.b64decode(rows[1]["root"]) == first.root


def test_tiles_hold_the_leaf_hashes_and_stop_at_the_public_size(
    connect_as: Connect, sequence: Sequence
) -> None:
    grow(connect_as("web"), sequence, 515)
    leaves = [
        bytes(row[0])
        for row in connect_as("auditor").execute("SELECT leaf_hash FROM audit_entry ORDER BY position")
    ]
    full = get("tile/0/001")
    assert full.content == b"".join(leaves[256:512])
    assert "immutable" in full["Cache-Control"]
    assert get("tile/0/002.p/3").content == b"".join(leaves[512:])
    level = leaves[256:512]
    while len(level) > 1:
        level = [node_hash(*pair) for pair in zip(level[::2], level[1::2], strict=True)]
    assert get("tile/1/000.p/2").content[32:] == level[0]
    for path in ("0/002", "0/002.p/4", "0/003.p/1", "1/000", "2/000.p/1", "64/000", "0/1", "x", "0/x999" * 9):
        refused(f"tile/{path}", 404, "log_not_found")


def test_odd_questions_are_answered(connect_as: Connect, sequence: Sequence) -> None:
    grow(connect_as("web"), sequence, 3, 3)
    for old, new in [("0", "3"), ("6", "3"), ("", "3"), ("3", "-1"), ("3", "٦"), ("1", "9" * 30)]:
        refused("consistency", 400, "bad_sizes", **{"from": old, "to": new})
    refused("consistency", 404, "log_not_found", **{"from": 3, "to": 5})
    refused("checkpoint/5", 404, "log_not_found")
    refused(f"checkpoint/{9**40}", 404, "log_not_found")
    refused("checkpoints", 400, "bad_sizes", before="x")
    refused("checkpoints", 404, "log_not_found", before="4")
    assert Client().post("/log/checkpoint").status_code == 405


def test_the_public_sees_the_log_move_at_ticks_only(
    connect_as: Connect, sequence: Sequence, settings: Any
) -> None:
    """Three checkpoints in one period: the last becomes public with the tick, the other two never."""
    settings.LOG_PUBLIC_TICK_SECONDS = 900
    web, seen = connect_as("web"), []
    for minutes in (1, 5, 14):
        with clock.frozen(NOON + timedelta(minutes=minutes)):
            seen += grow(web, sequence, 4)
            refused("checkpoint", 404, "log_empty")
            refused("tile/0/000.p/1", 404, "log_not_found")
            refused(f"checkpoint/{seen[-1]}", 404, "log_not_found")
    assert seen == [4, 8, 12]
    with clock.frozen(NOON + timedelta(minutes=15)):
        grow(web, sequence, 300)
        assert get("checkpoint").content == get("checkpoint/12").content
        assert [row["size"] for row in get("checkpoints").json()["checkpoints"]] == [12]
        assert len(get("tile/0/000.p/12").content) == 12 * 32
        for hidden in ("checkpoint/4", "checkpoint/8", "checkpoint/312", "tile/0/000.p/13", "tile/0/000"):
            refused(hidden, 404, "log_not_found")
        refused("consistency", 404, "log_not_found", **{"from": 8, "to": 12})
    with clock.frozen(NOON + timedelta(minutes=45)):
        assert [row["size"] for row in get("checkpoints").json()["checkpoints"]] == [312, 12]
        assert [row["size"] for row in get("checkpoints", before=312).json()["checkpoints"]] == [12]
        assert get("tile/0/000")["Cache-Control"].endswith("immutable")


def post(content: str | bytes, kind: str = "text/plain") -> Any:
    return Client(enforce_csrf_checks=True).post("/log/cosignatures", content, content_type=kind)


def witness(name: str = "Notary") -> Cosigner:
    """A registered witness, ready to sign now."""
    cosigner = Cosigner(f"witness.example/{name}", generate_key(), int(clock.now().timestamp()))
    call_command("audit", "witness-add", name, cosigner.vkey, stdout=StringIO())
    return cosigner


def test_a_witness_vouches_for_a_checkpoint_once(connect_as: Connect, sequence: Sequence) -> None:
    cosigner = witness()
    auditor = connect_as("auditor")
    assert figure(auditor, "SELECT count(*) FROM audit_event WHERE kind = 'witness.registered'") == 1
    sequence()
    note = get("checkpoint").content.decode()
    for _ in range(2):
        answer = post(add_signature(note, cosigner))
        assert (answer.status_code, answer.json()) == (200, {"accepted": ["Notary"]})
    shown = get("checkpoint").content.decode()
    assert [item.verifier for item in parse_note(shown).verified([cosigner.verifier])] == [cosigner.verifier]
    assert figure(auditor, "SELECT count(*) FROM audit_cosignature") == 1
    assert sequence() == 1, "a cosignature is no event: else each would ask for the next"


def test_whoever_checks_finds_the_witnesses_keys_but_no_sooner_than_the_public_log_moves(
    connect_as: Connect, sequence: Sequence, settings: Any
) -> None:
    """That one was registered is an event, which the public knows of from the next tick on."""
    settings.LOG_PUBLIC_TICK_SECONDS = 900
    with clock.frozen(NOON + timedelta(minutes=1)):
        first = witness("Notary")
        sequence()
        assert get("witnesses").content == b""
    with clock.frozen(NOON + timedelta(minutes=16)):
        second = witness("College")
        sequence()
        answer = get("witnesses")
        assert answer.content.decode() == f"# Notary\n{first.vkey}\n"
        assert answer["Content-Type"] == "text/plain; charset=utf-8"
        assert answer["Cache-Control"] == "no-cache"
    with clock.frozen(NOON + timedelta(minutes=30)):
        listed = get("witnesses").content.decode()
        assert listed == f"# College\n{second.vkey}\n# Notary\n{first.vkey}\n"
        assert parse_keys(listed) == [second.verifier, first.verifier]
    assert Client().post("/log/witnesses").status_code == 405


def test_what_vouches_for_nothing_is_refused(connect_as: Connect, sequence: Sequence) -> None:
    cosigner = witness()
    sequence()
    note = get("checkpoint").content.decode()
    stranger = Cosigner("stranger.example", generate_key(), int(clock.now().timestamp()))
    early = Cosigner(cosigner.name, cosigner._key, int(clock.now().timestamp()) + 3600)
    body, signed = note.split("\n\n")[0], add_signature(note, cosigner)
    other = body.replace(body.splitlines()[2], base64.b64encode(b"r" * 32).decode())
    wrong = [
        (add_signature(note, stranger), 403, "unknown_witness"),
        (add_signature(note, early), 403, "wrong_time"),
        (signed.replace(body.splitlines()[0] + "\n1\n", "elsewhere.example\n1\n", 1), 409, "other_log"),
        (signed.replace("\n1\n", "\n2\n", 1), 409, "unknown_checkpoint"),
        (signed.replace(body, other), 409, "other_root"),
        (note + cosigner.line(f"{other}\n"), 403, "wrong_signature"),
        ("hello", 400, "note_malformed"),
        (body + "\n\n" + "— x\n", 400, "note_malformed"),
        ("x" * 20_000, 413, "note_too_long"),
        (b"\xff\xfe", 415, "not_text"),
    ]
    for content, status, code in wrong:
        answer = post(content)
        assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert post("{}", "application/json").status_code == 415
    assert figure(connect_as("auditor"), "SELECT count(*) FROM audit_cosignature") == 0


def test_only_keys_of_witnesses_are_registered_and_each_once(servers: Any) -> None:
    cosigner = witness()
    from audit.merkle.note import Signer

    log_key = Signer("log.example", generate_key()).vkey
    for name, vkey in [("Other", cosigner.vkey), ("Notary", log_key), ("Log", log_key), ("Bad", "x+y")]:
        with pytest.raises(CommandError):
            call_command("audit", "witness-add", name, vkey)


def test_a_line_that_no_witness_signed_is_left_out(connect_as: Connect, sequence: Sequence) -> None:
    """As any serving role could put it there."""
    web = connect_as("web")
    (size,) = grow(web, sequence, 5)
    wrong = witness()
    size = sequence()
    note = get(f"checkpoint/{size}").content
    for line in ("garbage", wrong.line("another text\n")):
        web.execute(
            "INSERT INTO audit_cosignature (id, size, witness_id, line, signed_at, received_at) "
            "SELECT gen_random_uuid(), %s, id, %s, now(), now() FROM audit_witness",
            [size, line],
        )
        assert get("checkpoint").content == get(f"checkpoint/{size}").content == note
        grow(web, sequence, 1)
        size += 1
        note = get(f"checkpoint/{size}").content


@pytest.mark.parametrize("way", ["checkpoint", "checkpoints", "consistency", "cosignatures"])
def test_refusals_cost_the_same_whether_a_checkpoint_is_hidden_or_missing(
    way: str, connect_as: Connect, sequence: Sequence, settings: Any
) -> None:
    """10 is hidden below the public 20, 30 above it; 11 and 31 never were."""
    settings.LOG_PUBLIC_TICK_SECONDS = 900
    web = connect_as("web")
    for minutes in (1, 2, 20):
        with clock.frozen(NOON + timedelta(minutes=minutes)):
            grow(web, sequence, 10)
    with clock.frozen(NOON + timedelta(minutes=20)):
        assert get("checkpoint/20").content
        costs = {size: queries_of_refusal(way, size, settings.LOG_ORIGIN) for size in (10, 11, 30, 31)}
    assert len(set(costs.values())) == 1, costs


def queries_of_refusal(way: str, size: int, origin: str) -> int:
    with CaptureQueriesContext(connection) as caught:
        match way:
            case "checkpoint":
                refused(f"checkpoint/{size}", 404, "log_not_found")
            case "checkpoints":
                refused("checkpoints", 404, "log_not_found", before=size)
            case "consistency":
                refused("consistency", 404, "log_not_found", **{"from": size, "to": 99})
            case _:
                note = Checkpoint(origin, size, b"r" * 32).body() + "\n\u2014 x AAAAAGFh\n"
                answer = Client().post("/log/cosignatures", note, content_type="text/plain")
                assert answer.json()["code"] == "unknown_checkpoint"
    return len(caught)
