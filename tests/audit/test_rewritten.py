"""A log that does not continue what was signed: restored backups, rewritten rows, forged checkpoints, foreign keys."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql

from audit import models, queries
from audit.keys import Keyring
from audit.live import LiveCheck
from audit.merkle.checkpoint import Checkpoint
from audit.merkle.note import Signer, generate_key, signed_by
from audit.merkle.tree import Frontier
from config import clock
from tests.audit.conftest import Crew, add_events, place_only, signed_size, until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.serial]
Connect = Callable[[str], psycopg.Connection[Any]]
Sequence = Callable[[], int]


def copy(servers: Any, source: str, target: str) -> None:
    """Replace a database by a copy of another, as a restored dump does; sessions of both are ended."""
    with servers.superuser() as above:
        above.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s AND pid <> pg_backend_pid()",
            [source],
        )
        drop, create = (
            "DROP DATABASE IF EXISTS {} WITH (FORCE)",
            "CREATE DATABASE {} TEMPLATE {} OWNER lingee_owner",
        )
        above.execute(sql.SQL(drop).format(sql.Identifier(target)))
        above.execute(sql.SQL(create).format(sql.Identifier(target), sql.Identifier(source)))


@pytest.mark.parametrize("when", ["before it starts", "while it runs"])
def test_a_restored_backup_is_noticed(connect_as: Connect, crew: Crew, servers: Any, when: str) -> None:
    backup = f"{servers.database}_backup"
    process = crew.start()
    add_events(connect_as("web"), 300)
    until(lambda: signed_size(connect_as("auditor")) == 300)
    crew.end(process)
    copy(servers, servers.database, backup)
    process = crew.start()
    add_events(connect_as("web"), 5)
    until(lambda: signed_size(connect_as("auditor")) == 305)
    if when == "before it starts":
        crew.end(process)
        copy(servers, backup, servers.database)
        process = crew.start()
    else:
        copy(servers, backup, servers.database)
    assert process.wait(30) == 3
    assert "an older state of the database was restored" in crew.said(process)
    add_events(connect_as("web"), 50)
    assert "A checkpoint of 305 entries was signed" in crew.refused()
    assert signed_size(connect_as("auditor")) == 300
    crew.start("--adopt")
    until(lambda: signed_size(connect_as("auditor")) == 350)
    assert (crew.folder / "abandoned.305").exists(), (
        "what was signed over the lost entries is kept as evidence"
    )
    with servers.superuser() as above:
        above.execute(sql.SQL("DROP DATABASE {}").format(sql.Identifier(backup)))


FORGED = """
ALTER TABLE audit_event DISABLE TRIGGER USER; ALTER TABLE audit_entry DISABLE TRIGGER USER;
ALTER TABLE audit_tile DISABLE TRIGGER USER; ALTER TABLE audit_checkpoint DISABLE TRIGGER USER;
"""
EVENT = "UPDATE audit_event SET body = body || ' ', leaf_hash = sha256('\\x00' || body || ' ') WHERE id = 7;"
ENTRY = (
    "UPDATE audit_entry entry SET leaf_hash = event.leaf_hash FROM audit_event event "
    "WHERE event.id = event_id AND event_id = 7;"
)


@pytest.mark.acceptance("log:3")
@pytest.mark.parametrize(
    ("statements", "said"),
    [
        (EVENT, "Entry 6 is not the event it was"),
        (EVENT + ENTRY, "Tile 0 of level 0 is not the one over the entries"),
        (EVENT + ENTRY + "UPDATE audit_event SET id = -id WHERE id = 9;", "Entry 8 is not the event it was"),
        ("DELETE FROM audit_entry WHERE position = 4;", "Entry 4 is missing"),
        ("DELETE FROM audit_entry WHERE position >= 298;", "an older state of the database was restored"),
        ("UPDATE audit_event SET leaf_hash = 'x' WHERE id = 300;" + ENTRY.replace("7", "300"), "rewritten"),
        ("DELETE FROM audit_event WHERE id = 2;", "Entry 1 is not the event it was"),
        ("UPDATE audit_tile SET root = sha256('x');", "Tile 0 of level 0"),
        ("UPDATE audit_checkpoint SET root = sha256('x');", "rewritten"),
    ],
)
def test_what_the_owner_rewrites_is_noticed_at_the_next_start(
    connect_as: Connect, crew: Crew, sequence: Sequence, statements: str, said: str
) -> None:
    """The owner of the tables can disarm every guard; the sequencer's memory and the tree remain."""
    add_events(connect_as("web"), 300)
    assert sequence() == 300
    connect_as("owner").execute(FORGED + statements)
    assert said in crew.refused()


def test_a_checkpoint_forged_in_the_database_is_refused(
    connect_as: Connect, crew: Crew, sequence: Sequence, settings: Any
) -> None:
    """With the sequencer's password one can add a row; without its key it is no checkpoint of this log."""
    add_events(connect_as("web"), 5)
    sequence()
    add_events(connect_as("web"), 1)
    forger = connect_as("sequencer")
    place_only(forger, 5)
    tree = Frontier()
    tree.extend(
        bytes(row[0]) for row in forger.execute("SELECT leaf_hash FROM audit_entry ORDER BY position")
    )
    note = Signer(settings.LOG_ORIGIN, generate_key()).sign(
        Checkpoint(settings.LOG_ORIGIN, 6, tree.root()).body()
    )
    forger.execute(
        "INSERT INTO audit_checkpoint (size, root, note, made_at) VALUES (6, %s, %s, now())",
        [tree.root(), note],
    )
    assert "A checkpoint is not of this log's key" in crew.refused()


@pytest.mark.parametrize("vkey", ["no key at all", "another"])
def test_a_key_added_with_the_sequencers_password_stops_nothing(
    connect_as: Connect, sequence: Sequence, settings: Any, vkey: str
) -> None:
    """It signed nothing, so the sequencer goes on with its own; the check of the live log names a row that is none."""
    add_events(connect_as("web"), 5)
    sequence()
    vkey = Signer(settings.LOG_ORIGIN, generate_key()).vkey if vkey == "another" else vkey
    connect_as("sequencer").execute("INSERT INTO audit_log_key VALUES (%s, 'x', 3)", [vkey])
    add_events(connect_as("web"), 5)
    assert sequence() == 10
    (own,) = queries.verifier_keys()
    assert signed_by(models.Checkpoint.objects.get(size=10).note, own)
    auditor = connect_as("auditor")
    with auditor.transaction():
        check = LiveCheck(auditor, origin=settings.LOG_ORIGIN, ledgers=[], now=clock.now())
        lines = [found.line() for found in check.run().findings]
    assert len(lines) == (1 if vkey == "no key at all" else 0)
    assert all("a key of the log, since 3 entries, is none" in line for line in lines)


def test_after_a_rotation_the_folder_with_the_old_key_is_refused(
    connect_as: Connect, crew: Crew, sequence: Sequence, tmp_path: Path, settings: Any
) -> None:
    add_events(connect_as("web"), 5)
    sequence()
    old = shutil.copytree(tmp_path / "sequencer", tmp_path / "old")
    Keyring(tmp_path / "sequencer", settings.LOG_ORIGIN).request_rotation()
    add_events(connect_as("web"), 1)
    sequence()
    assert "is not the log's own" in crew.refused(folder=old)


def test_another_logs_folder_is_refused(
    connect_as: Connect, crew: Crew, sequence: Sequence, tmp_path: Path
) -> None:
    add_events(connect_as("web"), 5)
    sequence()
    assert "remembers none" in crew.refused(folder=tmp_path / "empty")
    (crew.folder / "key.pem").unlink()
    assert "not of this log's key" in crew.refused()
    (crew.folder / "key.pem").write_text("nonsense")
    assert "cannot be used" in crew.refused()
