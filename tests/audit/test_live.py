"""`manage.py audit verify`: what a superuser changes behind the triggers is found, with the place."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from io import StringIO
from typing import Any

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.db import transaction

from accounts import services as accounts
from audit import live, log, replay
from audit.explore import AUDITOR
from audit.live import Report
from benchmark import events as benchmark_events
from config import clock
from tests.audit.conftest import add_events, figure
from tests.pages import site
from tests.servers import Servers
from tests.submissions import world

pytestmark = [
    pytest.mark.django_db(transaction=True, databases=["default", "auditor"]),
    pytest.mark.acceptance("log:2"),
]
Sequence = Callable[[], int]
ARRANGED = ("benchmark_", "evaluation_", "governance_release")
"""Tables whose rows tests put in place without the events of a real import."""


@pytest.fixture(autouse=True)
def _ledgers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the tables that only a real task bank and real workers fill; those have tests of their own."""
    kept = [ledger for ledger in replay.ledgers() if not ledger.table.startswith(ARRANGED)]
    monkeypatch.setattr(live, "ledgers", lambda: kept)


@pytest.fixture
def vendor(servers: Any) -> world.Vendor:
    return world.vendor()


@pytest.fixture
def admitted(vendor: world.Vendor) -> Any:
    version = site.task_set()
    return vendor.submit(version, vendor.harness())


@contextmanager
def unguarded(servers: Servers, *tables: str) -> Iterator[psycopg.Connection[Any]]:
    """A superuser with every trigger of these tables off, as somebody who has taken the server."""
    with servers.superuser(servers.database) as connection:
        for table in tables:
            connection.execute(f"ALTER TABLE {table} DISABLE TRIGGER ALL")
        yield connection
        for table in tables:
            connection.execute(f"ALTER TABLE {table} ENABLE TRIGGER ALL")


def checked(remembered: str | None = None) -> Report:
    return live.check(remembered)


def position_of(auditor: psycopg.Connection[Any], kind: str) -> int:
    query = (
        "SELECT max(position) FROM audit_entry JOIN audit_event event ON event.id = event_id WHERE kind = %s"
    )
    return int(figure(auditor, query, kind))


def test_an_untouched_log_is_well_with_and_without_places(
    admitted: Any, vendor: world.Vendor, sequence: Sequence
) -> None:
    report = checked()
    assert (report.ok, report.entries) == (True, 0), report.findings
    size = sequence()
    report = checked()
    assert (report.ok, report.entries, report.events) == (True, size, size), report.findings
    site.moved(admitted, *site.TO_RUNNING)
    assert checked().ok
    assert checked().events > size


def test_the_command_says_all_is_well_or_ends_with_one(
    admitted: Any, sequence: Sequence, servers: Servers, tmp_path: Any
) -> None:
    sequence()
    said = StringIO()
    call_command("audit", "verify", stdout=said)
    assert "all is well" in said.getvalue()
    with unguarded(servers, "submissions_submission") as database:
        database.execute("UPDATE submissions_submission SET publication_consent = NOT publication_consent")
    said = StringIO()
    with pytest.raises(CommandError) as raised:
        call_command("audit", "verify", "--json", stdout=said)
    assert raised.value.returncode == 1
    found = json.loads(said.getvalue())
    assert found["ok"] is False
    assert found["findings"][0]["table"] == "submissions_submission"
    assert found["findings"][0]["row"] == str(admitted.id)
    with pytest.raises(CommandError) as raised:
        call_command("audit", "verify", "--since", str(tmp_path / "nothing"))
    assert raised.value.returncode == 2


@pytest.mark.parametrize(
    ("column", "value"), [(name, "zq") for name in live.COLUMNS] + [("leaf_hash", b"\x07" * 32)]
)
def test_an_edited_index_column_is_found(
    column: str, value: Any, admitted: Any, sequence: Sequence, servers: Servers
) -> None:
    sequence()
    with unguarded(servers, "audit_event") as database:
        target = figure(database, "SELECT event_id FROM audit_entry WHERE position = 3")
        database.execute(f"UPDATE audit_event SET {column} = %s WHERE id = %s", [value, target])
    (found,) = checked().findings
    assert (found.position, found.event) == (3, target)
    assert column.partition("_")[0] in found.what


def test_an_edited_body_is_found_even_with_its_hash_and_columns(
    admitted: Any, sequence: Sequence, servers: Servers
) -> None:
    """The forger recomputes everything in the event's row and in its entry; tree and signature remain."""
    size = sequence()
    with unguarded(servers, "audit_event", "audit_entry") as database:
        target = figure(database, "SELECT event_id FROM audit_entry WHERE position = 2")
        body = bytes(figure(database, "SELECT body FROM audit_event WHERE id = %s", target))
        forged = body.replace(b'"outcome":"ok"', b'"outcome":"no"')
        assert forged != body
        database.execute(
            "UPDATE audit_event SET body = %s, leaf_hash = sha256('\\x00'::bytea || %s), outcome = 'no' WHERE id = %s",
            [forged, forged, target],
        )
        first = checked().findings
        assert ("the entry has another leaf hash" in first[0].what, first[0].position) == (True, 2)
        database.execute(
            "UPDATE audit_entry SET leaf_hash = (SELECT leaf_hash FROM audit_event WHERE id = %s) WHERE position = 2",
            [target],
        )
    (found,) = checked().findings
    assert f"checkpoint of {size} entries has another root" in found.what


def test_an_edited_body_in_a_full_tile_is_found_at_the_tile(
    connect_as: Callable[[str], Any], sequence: Sequence, servers: Servers
) -> None:
    add_events(connect_as("web"), 300)
    sequence()
    with unguarded(servers, "audit_tile") as database:
        database.execute(
            "UPDATE audit_tile SET hashes = set_byte(hashes, 5, (get_byte(hashes, 5) + 1) % 256)"
        )
    (found,) = checked().findings
    assert ("tile 0 of level 0" in found.what, found.position) == (True, 255)


def test_a_missing_event_is_found(
    admitted: Any, vendor: world.Vendor, sequence: Sequence, servers: Servers
) -> None:
    vendor.harness("later")
    size = sequence()
    kind = "slot.reserved"
    with unguarded(servers, "audit_event", "audit_entry") as database:
        place = position_of(database, kind)
        database.execute("DELETE FROM audit_event WHERE kind = %s", [kind])
        report = checked()
        assert (report.findings[0].what, report.findings[0].position) == (
            "the event of this entry is gone",
            place,
        )
        assert [found.table for found in report.findings[1:]] == ["submissions_slot"]
        database.execute("DELETE FROM audit_entry WHERE position = %s", [place])
    report = checked()
    assert report.findings[0].position == place
    assert "missing" in report.findings[0].what
    assert place < size - 1


def test_a_log_cut_off_at_its_end_is_found_by_what_was_signed_or_remembered(
    admitted: Any, vendor: world.Vendor, sequence: Sequence, servers: Servers, tmp_path: Any
) -> None:
    before = sequence()
    vendor.harness("later")
    after = sequence()
    note = (tmp_path / "sequencer" / "checkpoint").read_text()
    tables = ("audit_event", "audit_entry", "audit_checkpoint", "submissions_harness")
    with unguarded(servers, *tables) as database:
        for statement in (
            "DELETE FROM audit_event WHERE id IN (SELECT event_id FROM audit_entry WHERE position >= %s)",
            "DELETE FROM audit_entry WHERE position >= %s",
        ):
            database.execute(statement, [before])
        (found,) = checked().findings
        assert f"the checkpoint covers {after} entries and there are {before}" in found.what
        database.execute("DELETE FROM audit_checkpoint WHERE size > %s", [before])
    assert checked().ok, "whoever remembers nothing cannot tell: this is why others keep checkpoints"
    (found,) = checked(note).findings
    assert f"the remembered checkpoint covers {after}" in found.what


FORGED = [
    ("submissions_submission", "state = 'voided', ended_at = now(), reason_code = 'x'", "state"),
    ("submissions_submission", "package_digest = repeat('0', 64)", "package"),
    ("submissions_submission", "cooldown_until = now()", "cooldown"),
    ("submissions_slot", "state = 'refunded', refunded_at = now()", "state"),
    ("submissions_slot", "actor = 'system:nobody'", "actor"),
    ("submissions_upload", "sha256 = repeat('0', 64)", "sha256"),
    ("submissions_upload", "state = 'failed', failure = 'x'", "state"),
    ("submissions_submissiontransition", "cause = 'other'", "moves"),
    ("submissions_quotapolicy", "value = value + 1", "rules"),
    ("accounts_organisation", "state = 'suspended'", "state"),
    ("accounts_organisation", "is_operator = true", "is_operator"),
]


@pytest.mark.parametrize(("table", "change", "column"), FORGED)
def test_a_row_changed_without_an_event_is_found(
    table: str, change: str, column: str, admitted: Any, sequence: Sequence, servers: Servers
) -> None:
    sequence()
    with unguarded(servers, table) as database:
        assert database.execute(f"UPDATE {table} SET {change}").rowcount
    found = checked().findings[0]
    assert found.table == table
    assert found.what.startswith(f"{column} is ")
    assert found.position is not None


def test_rows_put_in_or_taken_out_are_found(
    admitted: Any, vendor: world.Vendor, sequence: Sequence, servers: Servers
) -> None:
    sequence()
    slot = str(admitted.slot.id)
    with unguarded(servers, "submissions_slot") as database:
        database.execute("UPDATE submissions_slot SET id = gen_random_uuid()")
    whats = {(found.row == slot, found.what) for found in checked().findings}
    assert whats == {(False, "no event tells of its beginning"), (True, "the row is gone")}


def test_released_values_and_their_policy_are_compared(
    vendor: world.Vendor, sequence: Sequence, servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    from governance import replay as governance
    from governance.commitments import policy_digest
    from governance.events import ResultReleased
    from tests.pages.site import ENTERPRISE, VALUES

    found = site.moved(site.submission(vendor, site.task_set()), *site.TO_COMPLETE)
    with transaction.atomic():
        row = site.release(found)
        values = {name: {"value": value, "h": h} for name, (value, h) in VALUES.items()}
        values["enterprise"] = {"value": ENTERPRISE[0], "h": ENTERPRISE[1]}
        event = ResultReleased(
            subject=found.id,
            policy=str(row.policy_id),
            policy_row=policy_digest(row.policy),
            values=values,
            coverage=row.coverage,
            runs=1,
            runs_root="0" * 64,
        )
        log.append(event, by=site.BY)
    sequence()
    kept = [ledger for ledger in governance.LEDGERS if ledger.table == "governance_release"]
    monkeypatch.setattr(live, "ledgers", lambda: kept)
    assert checked().ok, checked().findings
    tables = ("governance_domainaggregate", "governance_release", "governance_releasepolicy")
    for change, column in [
        ("UPDATE governance_domainaggregate SET value = value + 1 WHERE domain = 'finance'", "shown"),
        ("UPDATE governance_release SET enterprise_h = enterprise_h + 1", "shown"),
        ("UPDATE governance_release SET coverage = '0.98'", "coverage"),
        (
            "UPDATE governance_releasepolicy SET half_widths = jsonb_set(half_widths, '{finance,3}', '99')",
            "policy_row",
        ),
    ]:
        with unguarded(servers, *tables) as database, database.transaction(force_rollback=False):
            undo = {
                table: database.execute(f"SELECT json_agg({table}) FROM {table}").fetchone()
                for table in tables
            }
            database.execute(change)
        finding = checked().findings[0]
        assert (finding.row, finding.what.split()[0]) == (str(found.id), column), finding
        with unguarded(servers, *tables) as database:
            for table in tables:
                database.execute(f"DELETE FROM {table}")
            for table in reversed(tables):
                database.execute(
                    f"INSERT INTO {table} SELECT * FROM json_populate_recordset(NULL::{table}, %s::json)",
                    [json.dumps(undo[table][0])],
                )
        assert checked().ok


def test_task_sets_and_runs_are_compared(
    sequence: Sequence, servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    from benchmark import replay as benchmark
    from evaluation import replay as evaluation
    from tests.factories import frozen_version, run_of

    monkeypatch.setattr(live, "ledgers", lambda: [benchmark.LEDGERS[0], *evaluation.LEDGERS])
    with transaction.atomic():
        version = frozen_version("2026.7")
        facts = {"subject": version.id, "label": "2026.7", "digest": version.digest, "tasks": 1}
        log.append(benchmark_events.TaskSetImported(**facts), by=site.BY)
        log.append(benchmark_events.TaskSetFrozen(**facts, assets_root="0" * 64), by=site.BY)
        log.append(benchmark_events.TaskSetOpened(subject=version.id, label="2026.7"), by=site.BY)
        run = run_of(version)
    sequence()
    assert checked().ok, checked().findings
    for table, change, row in [
        ("benchmark_tasksetversion", "label = '2026.8'", version.id),
        ("evaluation_evaluationrun", "missing = 3", run.id),
    ]:
        with unguarded(servers, table) as database:
            database.execute(f"UPDATE {table} SET {change}")
        findings = checked().findings
        assert str(row) in {found.row for found in findings if found.table == table}


def test_what_waits_too_long_is_found(connect_as: Callable[[str], Any], servers: Servers) -> None:
    add_events(connect_as("web"), 1)
    assert checked().ok
    with clock.shifted(timedelta(seconds=6)):
        (found,) = checked().findings
        assert "waits for its place" in found.what
    with unguarded(servers, "audit_pending") as database:
        database.execute("DELETE FROM audit_pending")
    (found,) = checked().findings
    assert "does not wait" in found.what


def test_nothing_is_declared_twice_and_every_kind_and_column_exists(servers: Any) -> None:
    from audit.events import Event

    every = replay.ledgers()
    assert len({ledger.table for ledger in every}) == len(every) >= 12
    from django.db import connections

    for ledger in every:
        assert set(ledger.steps) <= set(Event.registry)
        assert ledger.begins <= set(ledger.steps)
        with connections[AUDITOR].cursor() as cursor:
            cursor.execute(ledger.query)
            assert cursor.description is not None
            if ledger.table != "governance_release":  # its shape is not its query's
                assert len(cursor.description) == len(ledger.columns) + 1


def test_accounts_services_leave_nothing_unexplained(sequence: Sequence) -> None:
    owner = world.person()
    organisation = accounts.create_organisation("One", owner=owner, by=world.BY)
    accounts.verify_organisation(organisation, by=world.BY)
    accounts.suspend_organisation(organisation, by=world.BY)
    sequence()
    assert checked().ok
