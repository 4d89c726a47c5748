"""Exports: what is disclosed and what is not, that they verify, who is told, and how much memory they take."""

from __future__ import annotations

import csv
import json
import os
import tarfile
import tracemalloc
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.core.management import CommandError, call_command

from audit import exports, integrity, queries
from audit.events import Actor, Event
from audit.exports import Selection
from audit.merkle.tiles import decode_bundle
from audit.models import Export, IntegrityCheck, Withholding
from client.audit import main as lgbench_audit
from config import clock
from tests.accounts.duties import member_of_staff, opened
from tests.audit.conftest import figure
from tests.audit.test_explorer import ONE, OTHER, body, record
from tests.audit.test_live import unguarded
from tests.servers import Servers
from tests.submissions import world

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "auditor"])
Connect = Callable[[str], psycopg.Connection[Any]]
Sequence = Callable[[], int]
MIB = 1024 * 1024


def verified(path: Path, *more: str) -> dict[str, Any]:
    """What the auditor's own tool says about an export, under the log's newest key."""
    import contextlib

    said = StringIO()
    with contextlib.redirect_stdout(said):
        arguments = [
            "verify",
            str(path),
            "--key",
            queries.verifier_keys()[-1],
            "--jobs",
            "1",
            "--json",
            *more,
        ]
        code = lgbench_audit.main(arguments)
    found: dict[str, Any] = json.loads(said.getvalue())
    assert (code == 0) == found["ok"]
    return found


def entries(directory: Path) -> list[bytes | None]:
    found: list[bytes | None] = []
    for path in sorted((directory / "entries").rglob("*")):
        if path.is_file():
            found += decode_bundle(path.read_bytes())
    return found


def test_one_organisations_entries_are_disclosed_and_the_whole_still_verifies(
    connect_as: Connect, sequence: Sequence, tmp_path: Path
) -> None:
    web = connect_as("web")
    other = {"channel": "api", "id": "t1", "kind": "token", "organisation": OTHER}
    record(web, *(body(number, **({"actor": other} if number in (3, 5) else {})) for number in range(8)))
    size = sequence()
    record(web, body(99))
    manifest = exports.write(tmp_path / "one", Selection(organisation=OTHER))
    assert (manifest.size, manifest.withheld, manifest.first, manifest.last) == (size, 6, 3, 5)
    assert verified(tmp_path / "one")["ok"]
    shown = [entry for entry in entries(tmp_path / "one") if entry is not None]
    assert [json.loads(entry)["subject"]["id"] for entry in shown] == ["s3", "s5"]
    with (tmp_path / "one/events.csv").open(newline="") as file:
        assert [row["id"] for row in csv.DictReader(file)] == ["s3", "s5"]


@pytest.mark.parametrize(
    ("selection", "expected"),
    [
        (Selection(), [0, 1, 2, 3, 4, 5]),
        (Selection(first=2, last=4), [2, 3, 4]),
        (Selection(kind="test.odd"), [1, 3, 5]),
        (Selection(kind="test."), [0, 1, 2, 3, 4, 5]),
        (Selection(kind="tes"), []),
        (Selection(organisation=ONE, first=5), [5]),
        (Selection(since=datetime(2100, 1, 1, tzinfo=UTC)), []),
        (Selection(until=datetime(2100, 1, 1, tzinfo=UTC), last=0), [0]),
    ],
)
def test_a_selection_discloses_what_it_names_and_survives_its_form_as_text(
    selection: Selection, expected: list[int]
) -> None:
    assert Selection.of(selection.facts()) == selection
    at = datetime(2026, 11, 1, tzinfo=UTC)
    found = [number for number in range(6) if selection.shows(number, at, json.loads(body(number)))]
    assert found == expected


def test_instants_include_the_first_and_not_the_last() -> None:
    at = datetime(2026, 11, 1, tzinfo=UTC)
    chosen = Selection(since=at, until=at + timedelta(seconds=1))
    seen = [chosen.shows(0, at + timedelta(seconds=shift), {}) for shift in (-1, 0, 1)]
    assert seen == [False, True, False]


def test_asked_for_made_and_sealed_in_the_store(
    sequence: Sequence, servers: Servers, connect_as: Connect
) -> None:
    by = Actor(kind="person", id="11111111-1111-4111-8111-111111111111", organisation=ONE, channel="web")
    world.vendor()
    size = sequence()
    export = exports.request(Selection(kind="organisation."), by=by)
    assert exports.make_due() == 1
    assert exports.make_due() == 0
    export.refresh_from_db()
    assert (export.state, export.size) == ("done", size)
    assert 0 < (export.shown or 0) < size
    stored = (servers.state_dir / "s3" / servers.buckets["S3_BUCKET_EXPORTS"] / str(export.id)).read_bytes()
    assert b"manifest.json" not in stored
    with exports.open_recorded(export, by=by) as tar, tarfile.open(fileobj=tar) as archive:
        assert "manifest.json" in archive.getnames()
    auditor = connect_as("auditor")
    rows = auditor.execute(
        "SELECT kind, actor_id, body FROM audit_event WHERE subject_id = %s ORDER BY id", [str(export.id)]
    ).fetchall()
    assert [(kind, actor) for kind, actor, _ in rows] == [
        ("export.requested", by.id),
        ("export.made", "exports"),
        ("export.delivered", by.id),
    ]
    assert {json.loads(row[2])["data"]["manifest"] for row in rows[1:]} == {export.manifest}
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        auditor.execute("SELECT key FROM audit_export")


def test_nothing_is_handed_out_that_is_not_recorded(
    sequence: Sequence, monkeypatch: pytest.MonkeyPatch
) -> None:
    by = Actor(kind="person", id="p", organisation=ONE, channel="web")
    world.vendor()
    sequence()
    export = exports.request(Selection(), by=by)
    exports.make_due()
    export.refresh_from_db()
    fetched: list[object] = []
    monkeypatch.setattr(exports.store, "fetch_sealed", lambda *arguments, **_: fetched.append(arguments))

    def full(event: Event, *, by: Actor) -> int:
        raise psycopg.OperationalError("disk full")

    monkeypatch.setattr(exports.log, "append", full)
    with pytest.raises(psycopg.OperationalError):
        exports.open_recorded(export, by=by)
    assert not fetched


def test_an_export_that_cannot_be_made_fails_and_says_so(connect_as: Connect) -> None:
    export = exports.request(Selection(), by=Actor(kind="person", id="p", organisation=ONE))
    assert exports.make_due() == 1
    export.refresh_from_db()
    assert export.state == Export.State.FAILED
    query = "SELECT count(*) FROM audit_event WHERE kind = 'export.failed'"
    assert figure(connect_as("auditor"), query) == 1


def test_a_withheld_entry_stands_by_its_hash_and_proofs_hold(
    connect_as: Connect, sequence: Sequence, tmp_path: Path
) -> None:
    from audit import explore

    record(connect_as("web"), *(body(number) for number in range(5)))
    office = opened()
    staff = [office.first, office.second]
    sequence()
    one, two = (str(person.pseudonym) for person in staff)
    for arguments in (
        ["2", "person", one, one],
        ["99", "person", one, two],
        ["2", "person", one, str(world.person().pseudonym)],
        ["2", "person", one, str(member_of_staff().pseudonym)],
    ):
        with pytest.raises(CommandError):
            call_command("entry_withhold", *arguments)
    call_command("entry_withhold", "2", "person", one, two, stdout=StringIO())
    with pytest.raises(CommandError, match="already"):
        call_command("entry_withhold", "2", "law", one, two)
    assert Withholding.objects.count() == 1
    size = sequence()
    manifest = exports.write(tmp_path / "part", Selection())
    assert (manifest.size, manifest.withheld) == (size, 1)
    assert entries(tmp_path / "part")[2] is None
    assert verified(tmp_path / "part")["ok"]
    identifier = explore.event_at(2)
    assert identifier is not None
    found = explore.event(identifier)
    assert found is not None
    assert (found.row.withheld, found.exact, found.row.body) == (True, b"", {})
    assert found.proof is not None
    assert found.proof.extra is None
    from audit.merkle.note import Verifier
    from audit.merkle.proof import verify

    verify(found.proof, body(2), [Verifier.parse(key) for key in queries.verifier_keys()])


def test_the_command_writes_what_the_verifier_takes(
    connect_as: Connect, sequence: Sequence, tmp_path: Path
) -> None:
    with pytest.raises(CommandError, match="no checkpoint"):
        call_command("audit", "export", str(tmp_path / "early"))
    world.vendor()
    size = sequence()
    said = StringIO()
    call_command("audit", "export", str(tmp_path / "all"), stdout=said)
    assert said.getvalue().startswith(f"{size} entries, {size} of them")
    assert verified(tmp_path / "all", "--strict")["ok"]
    with pytest.raises(CommandError, match="not empty"):
        call_command("audit", "export", str(tmp_path / "all"))
    call_command(
        "audit", "export", str(tmp_path / "none"), "--from", "2100-01-01", "--kind", "token.", stdout=said
    )
    assert verified(tmp_path / "none")["ok"]
    assert not (tmp_path / "none/entries").exists()


def fill(web: psycopg.Connection[Any], count: int) -> None:
    """Events of plausible length, by COPY."""
    with web.transaction(), web.cursor() as cursor, cursor.copy("COPY audit_event (body) FROM STDIN") as copy:
        for number in range(count):
            copy.write_row((body(number, data={"filling": "x" * 300}),))


def peak_of_writing(directory: Path) -> int:
    """Bytes that Python held at most while an export was written."""
    tracemalloc.start()
    exports.write(directory, Selection())
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak


@pytest.mark.serial
@pytest.mark.timeout(300)
def test_thirty_thousand_entries_take_no_more_memory_than_ten_thousand(
    connect_as: Connect, sequence: Sequence, tmp_path: Path
) -> None:
    web = connect_as("web")
    fill(web, 10_000)
    sequence()
    small = peak_of_writing(tmp_path / "small")
    fill(web, 20_000)
    assert sequence() == 30_000
    large = peak_of_writing(tmp_path / "large")
    assert verified(tmp_path / "large")["ok"]
    assert large < 16 * MIB
    assert large < small + 2 * MIB


@pytest.mark.slow
@pytest.mark.serial
@pytest.mark.timeout(1500)
def test_a_million_entries_fit_as_well(connect_as: Connect, sequence: Sequence, tmp_path: Path) -> None:
    fill(connect_as("web"), 1_000_000)
    assert sequence() == 1_000_000
    assert peak_of_writing(tmp_path / "million") < 32 * MIB
    assert verified(tmp_path / "million")["ok"]


def test_the_running_check_goes_round_and_finds_what_was_changed(
    connect_as: Connect, sequence: Sequence, servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(integrity, "STRETCH", 512)
    assert integrity.check_next() is integrity.check_if_due() is None
    record(connect_as("web"), *(body(number) for number in range(600)))
    sequence()
    found = [integrity.check_next() for _ in range(3)]
    assert [(row.first, row.last, row.ok) for row in found if row] == [
        (0, 511, True),
        (512, 599, True),
        (0, 511, True),
    ]
    assert integrity.check_if_due() is None
    with unguarded(servers, "audit_event", "audit_tile") as database:
        target = figure(database, "SELECT event_id FROM audit_entry WHERE position = 550")
        database.execute("UPDATE audit_event SET outcome = 'no' WHERE id = %s", [target])
        database.execute("UPDATE audit_tile SET root = repeat('x', 32)::bytea WHERE level = 0 AND number = 1")
    second, first = integrity.check_next(), integrity.check_next()
    assert second is not None
    assert first is not None
    assert [(row["position"], row["event"]) for row in second.findings] == [(550, target)]
    assert [row["position"] for row in first.findings] == [511]
    seen = integrity.overview()
    assert (seen.entries, seen.missing, seen.waiting, seen.waiting_too_long) == (600, 0, 0, 0)
    assert [row.ok for row in seen.checks] == [False, False, True, True, True]
    assert len(seen.bad) == 2
    with unguarded(servers, "audit_entry") as database:
        database.execute("DELETE FROM audit_entry WHERE position = 10")
    assert integrity.overview().missing == 1
    integrity.check_next()
    last = integrity.check_next() if IntegrityCheck.objects.last().first else IntegrityCheck.objects.last()
    assert last is not None
    assert last.findings[0]["position"] == 10


def test_what_a_killed_worker_left_is_removed_and_what_is_being_made_stays(
    servers: Any, settings: Any, tmp_path: Path
) -> None:
    settings.WORK_DIR = tmp_path / "work"
    left, fresh = (settings.WORK_DIR / f"export-{name}" for name in ("left", "fresh"))
    for folder in (left, fresh):
        folder.mkdir(parents=True)
        (folder / "entries").write_bytes(b"plain")
    long_ago = (clock.now() - exports.PATIENCE).timestamp() - 1
    os.utime(left, (long_ago, long_ago))
    assert exports.make_due() == 0
    assert [folder.name for folder in settings.WORK_DIR.iterdir()] == ["export-fresh"]
