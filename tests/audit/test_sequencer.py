"""The sequencer as a real process: every event gets one place, whatever is killed, restored or rewritten."""

from __future__ import annotations

import os
import pwd
import random
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql

from audit.keys import Keyring
from audit.merkle.checkpoint import Checkpoint, open_checkpoint
from audit.merkle.note import Verifier, parse_note
from audit.merkle.tree import Frontier
from audit.sequencer import Sequencer
from tests.audit.conftest import Connection, Crew, add_events, figure, place_only, signed_size, until, waiting
from tests.servers import ROOT

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.serial]
Connect = Callable[[str], psycopg.Connection[Any]]
Sequence = Callable[[], int]
LATEST = 5.0
"""Seconds after which no event may wait for its place."""


def assert_whole(auditor: Connection) -> None:
    """Each event has exactly one place, places have no gap, and every signed root is that of a recomputation."""
    events = figure(auditor, "SELECT count(*) FROM audit_event")
    assert figure(auditor, "SELECT count(DISTINCT event_id) FROM audit_entry") == events
    rows = auditor.execute(
        "SELECT position, event.leaf_hash, sha256('\\x00'::bytea || event.body) FROM audit_entry entry "
        "JOIN audit_event event ON event.id = entry.event_id ORDER BY position"
    ).fetchall()
    assert [row[0] for row in rows] == list(range(events))
    key = [Verifier.parse(row[0]) for row in auditor.execute("SELECT vkey FROM audit_log_key").fetchall()]
    checkpoints = auditor.execute("SELECT size, root, note FROM audit_checkpoint ORDER BY size").fetchall()
    tree = Frontier()
    for size, root, note in checkpoints:
        tree.extend(bytes(row[2]) for row in rows[tree.size : size])
        assert (size, bytes(root)) == (tree.size, tree.root())
        found = open_checkpoint(note, key)
        assert (found.size, found.root) == (tree.size, tree.root())
    assert tree.size == events


@pytest.mark.case("S33")
@pytest.mark.acceptance("log:8")
def test_late_commits_idle_sessions_and_rollbacks_hold_up_nothing(connect_as: Connect, crew: Crew) -> None:
    auditor, web, late, idle, failing = (connect_as(role) for role in ("auditor", *["web"] * 4))
    crew.start()
    add_events(web, 3, "before")
    until(lambda: signed_size(auditor) == 3)
    idle.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
    add_one(idle, "idle")
    late.execute("BEGIN")
    add_one(late, "late")
    failing.execute("BEGIN")
    add_one(failing, "never")
    add_events(web, 20, "meanwhile")
    until(lambda: waiting(auditor) == 0, LATEST)
    failing.execute("ROLLBACK")
    add_events(web, 20, "after the gap")
    late.execute("COMMIT")
    committed = time.monotonic()
    until(lambda: figure(auditor, "SELECT count(*) FROM audit_entry") == 44, LATEST)
    until(lambda: signed_size(auditor) == 44, LATEST)
    assert time.monotonic() - committed < LATEST
    late_id = figure(auditor, "SELECT id FROM audit_event WHERE subject_id = 'late'")
    assert figure(auditor, "SELECT position FROM audit_entry WHERE event_id = %s", late_id) > 22
    idle.execute("COMMIT")
    until(lambda: signed_size(auditor) == 45, LATEST)
    assert_whole(auditor)
    assert figure(auditor, "SELECT max(id) - count(*) FROM audit_event") > 0, "there was a gap of ids"


def add_one(connection: Connection, subject: str) -> None:
    """Inside whatever transaction the connection is in."""
    from tests.audit.conftest import event_body

    connection.execute("INSERT INTO audit_event (body) VALUES (%s)", [event_body(subject).encode()])


def test_kills_at_any_point_leave_no_gap_and_no_double(connect_as: Connect, crew: Crew, servers: Any) -> None:
    auditor, stop = connect_as("auditor"), threading.Event()

    def write() -> None:
        with psycopg.connect(servers.url("web"), autocommit=True) as mine:
            while not stop.is_set():
                add_events(mine, 40)

    writers = [threading.Thread(target=write) for _ in range(2)]
    for writer in writers:
        writer.start()
    draw, sizes = random.Random(20261101), []
    try:
        for _ in range(5):
            process = crew.start()
            before = signed_size(auditor)
            until(lambda before=before: signed_size(auditor) > before)
            time.sleep(draw.uniform(0, 1.5))
            crew.kill(process)
            sizes.append(signed_size(auditor))
    finally:
        stop.set()
        for writer in writers:
            writer.join()
    assert sizes == sorted(sizes)
    last = crew.start()
    until(lambda: waiting(auditor) == 0 and signed_size(auditor) == figure(auditor, COUNT))
    crew.end(last)
    assert_whole(auditor)


COUNT = "SELECT count(*) FROM audit_event"


@pytest.mark.parametrize("where", ["the same folder", "another machine's folder"])
def test_a_second_sequencer_waits_and_takes_over(
    connect_as: Connect, crew: Crew, tmp_path: Path, where: str
) -> None:
    auditor, web = connect_as("auditor"), connect_as("web")
    first = crew.start()
    add_events(web, 2)
    until(lambda: signed_size(auditor) == 2)
    folder = crew.folder
    if where != "the same folder":
        folder = tmp_path / "elsewhere"
        shutil.copytree(crew.folder, folder)
    second = crew.start(folder=folder)
    until(lambda: "waiting to take over" in crew.said(second))
    add_events(web, 2)
    until(lambda: signed_size(auditor) == 4)
    assert "sequencing" not in crew.said(second)
    crew.kill(first)
    add_events(web, 2)
    until(lambda: signed_size(auditor) == 6)
    assert "from entry 4" in crew.said(second)
    crew.end(second)
    assert_whole(auditor)


def test_it_goes_on_when_the_database_comes_back(connect_as: Connect, crew: Crew, servers: Any) -> None:
    auditor, web = connect_as("auditor"), connect_as("web")
    process = crew.start()
    add_events(web, 2)
    until(lambda: signed_size(auditor) == 2)
    with servers.superuser() as above:
        above.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'lingee_sequencer'"
        )
    add_events(web, 2)
    until(lambda: signed_size(auditor) == 4)
    assert "trying again" in crew.said(process)
    assert process.poll() is None


def test_a_key_is_rotated_by_a_checkpoint_of_both(connect_as: Connect, crew: Crew) -> None:
    auditor, web = connect_as("auditor"), connect_as("web")
    process = crew.start()
    add_events(web, 1)
    until(lambda: signed_size(auditor) == 1)
    rotation = crew.start("rotate-key")
    assert rotation.wait(30) == 0
    for size in (2, 3):
        add_events(web, 1)
        until(lambda size=size: signed_size(auditor) == size)
    crew.end(process)
    vkeys = [row[0] for row in auditor.execute("SELECT vkey FROM audit_log_key ORDER BY since_size")]
    assert vkeys[1] == crew.said(rotation).split()[-1]
    old, new = (Verifier.parse(vkey) for vkey in vkeys)
    notes = [row[0] for row in auditor.execute("SELECT note FROM audit_checkpoint ORDER BY size")]
    signers = [{found.verifier for found in parse_note(note).verified([old, new])} for note in notes]
    assert signers == [{old}, {old, new}, {new}]
    assert not (crew.folder / "next.pem").exists()
    assert (crew.folder / "key.pem").stat().st_mode & 0o777 == 0o600
    assert crew.folder.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("rotating", ["one key", "two keys"])
def test_a_checkpoint_signed_but_not_stored_is_stored_at_the_next_start(
    connect_as: Connect, sequence: Sequence, tmp_path: Path, settings: Any, rotating: str
) -> None:
    """The kill falls between the folder and the database; with two keys, in the middle of a rotation."""
    auditor, web = connect_as("auditor"), connect_as("web")
    add_events(web, 5)
    sequence()
    add_events(web, 2)
    keyring = Keyring(tmp_path / "sequencer", settings.LOG_ORIGIN)
    old = keyring.signer.vkey
    if rotating == "two keys":
        keyring.request_rotation()
    place_only(connect_as("sequencer"), 5)
    tree = Frontier()
    tree.extend(
        bytes(row[0]) for row in auditor.execute("SELECT leaf_hash FROM audit_entry ORDER BY position")
    )
    note = keyring.sign(Checkpoint(settings.LOG_ORIGIN, 7, tree.root()), keyring.next_signer())
    assert signed_size(auditor) == 5
    assert sequence() == 7
    assert figure(auditor, "SELECT note FROM audit_checkpoint WHERE size = 7") == note
    vkeys = [row[0] for row in auditor.execute("SELECT vkey FROM audit_log_key ORDER BY since_size")]
    assert (vkeys[0], len(vkeys)) == (old, 2 if rotating == "two keys" else 1)
    assert Keyring(tmp_path / "sequencer", settings.LOG_ORIGIN).signer.vkey == vkeys[-1]
    assert_whole(auditor)


def test_it_runs_under_its_own_role_only(processes: Any, connect_as: Connect) -> None:
    command, environment = processes.command("sequencer", role="web")
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 1
    assert "LINGEE_ROLE=sequencer" in done.stderr
    own = processes.sequencer().environment
    assert not {name for name in own if name.startswith(("VAULT_KEY", "S3_")) and "BUCKET" not in name}
    assert "REDIS_URL" not in own


def test_an_unknown_user_is_refused(processes: Any, connect_as: Connect) -> None:
    from django.core.management import CommandError

    from audit.management.commands.sequencer import become

    with pytest.raises(CommandError, match="no user nobody-of-that-name"):
        become("nobody-of-that-name")
    become("")


def test_root_gives_itself_up_for_the_named_user_and_others_cannot(
    processes: Any, connect_as: Connect
) -> None:
    code = (
        "import sys, os; from django.core.management import CommandError\n"
        "from audit.management.commands.sequencer import become\n"
        "try: become('nobody')\n"
        "except CommandError as error: sys.exit(str(error))\n"
        "print(os.getuid(), os.geteuid(), os.getgroups())"
    )
    environment = processes.environment("sequencer")
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False, timeout=60
    )
    nobody = pwd.getpwnam("nobody").pw_uid
    if os.geteuid() in (0, nobody):
        assert done.stdout.split()[:2] == [str(nobody)] * 2, done.stderr
        assert done.stdout.strip().endswith("[]")
    else:
        assert "start it as that user or as root" in done.stderr


def migrate_audit(servers: Any, database: str, to: str) -> None:
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "config.settings.test",
        "LINGEE_ROLE": "owner",
        "DATABASE_URL": servers.url("owner", database),
    }
    command = [sys.executable, str(ROOT / "manage.py"), "migrate", "audit", to, "--verbosity", "0"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr[-3000:]


def test_events_of_before_the_tree_are_waiting_after_the_migration(servers: Any, connect_as: Connect) -> None:
    """As at the first update of a site: a database of the first migration, three events, then the second."""
    name = f"{servers.database}_early"
    with servers.superuser() as above:
        above.execute(sql.SQL("CREATE DATABASE {} OWNER lingee_owner").format(sql.Identifier(name)))
        migrate_audit(servers, name, "0001")
        with psycopg.connect(servers.url("web", name), autocommit=True) as web:
            add_events(web, 3)
        migrate_audit(servers, name, "0002")
        with psycopg.connect(servers.url("auditor", name), autocommit=True) as auditor:
            assert waiting(auditor) == 3
        above.execute(sql.SQL("DROP DATABASE {}").format(sql.Identifier(name)))


def test_batches_and_idle_looks_are_cheap(
    connect_as: Connect, servers: Any, tmp_path: Path, settings: Any
) -> None:
    """20,000 events in well under a tenth of a millisecond of processor time each."""
    add_events(connect_as("web"), 20_000)
    sequencer = Sequencer(servers.url("sequencer"), Keyring(tmp_path / "sequencer", settings.LOG_ORIGIN))
    before = time.process_time()
    assert sequencer.catch_up() == 20_000
    assert (time.process_time() - before) / 20_000 < 0.000_1


def test_an_event_placed_without_ceasing_to_wait_stops_nothing(
    connect_as: Connect, sequence: Sequence
) -> None:
    """As whoever has the sequencer's password could place it."""
    web, role = connect_as("web"), connect_as("sequencer")
    add_events(web, 5)
    assert sequence() == 5
    add_events(web, 2)
    role.execute(
        "INSERT INTO audit_entry (position, event_id, leaf_hash) SELECT 5, id, leaf_hash FROM audit_event "
        "WHERE id = (SELECT min(event_id) FROM audit_pending)"
    )
    assert sequence() == 7
    assert_whole(connect_as("auditor"))
    assert waiting(connect_as("auditor")) == 0
