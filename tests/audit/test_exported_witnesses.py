"""What an export says of witnesses, checked by the auditor's own tool; and what does not get into it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.db import connections
from django.test import Client
from django.test.utils import CaptureQueriesContext

from audit import exports, queries, services
from audit.explore import AUDITOR
from audit.exports import Selection
from audit.merkle.export import CHECKPOINTS, MANIFEST, WITNESSES, Manifest, unframe
from audit.merkle.note import Cosigner, add_signature, generate_key, parse_note
from config import clock
from tests.audit.conftest import add_events
from tests.audit.test_exports import verified
from tests.audit.test_public import witness

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "auditor"])
Connect = Callable[[str], psycopg.Connection[Any]]
Sequence = Callable[[], int]


def cosign(*cosigners: Cosigner) -> None:
    """These witnesses vouch for the newest public checkpoint."""
    for cosigner in cosigners:
        services.accept_cosignatures(
            add_signature(Client().get("/log/checkpoint").content.decode(), cosigner)
        )


def test_an_export_carries_what_witnesses_vouch_for(
    connect_as: Connect, sequence: Sequence, tmp_path: Path
) -> None:
    web = connect_as("web")
    notary, college = witness("Notary"), witness("College")
    add_events(web, 5)
    first = sequence()
    cosign(notary, college)
    add_events(web, 5)
    second = sequence()
    cosign(college)
    add_events(web, 5)
    size = sequence()
    manifest = exports.write(tmp_path / "e", Selection())
    assert WITNESSES in manifest.files
    assert Manifest.parse((tmp_path / "e" / MANIFEST).read_bytes()) == manifest
    listed = (tmp_path / "e" / WITNESSES).read_text()
    assert listed == f"# College\n{college.vkey}\n# Notary\n{notary.vkey}\n"
    report = verified(tmp_path / "e", "--witness", notary.vkey, "--witness", college.vkey)
    assert (report["ok"], report["size"], report["problems"]) == (True, size, [])
    assert [(found["size"], found["cosigned"]) for found in report["witnesses"]] == [(first, 1), (second, 2)]
    with (tmp_path / "e" / CHECKPOINTS).open("rb") as file:
        assert [len(parse_note(note).signatures) for note in unframe(file)] == [3, 2, 1]


def test_without_witnesses_an_export_is_as_before(
    connect_as: Connect, sequence: Sequence, tmp_path: Path
) -> None:
    add_events(connect_as("web"), 5)
    sequence()
    assert WITNESSES not in exports.write(tmp_path / "e", Selection()).files
    assert not (tmp_path / "e" / WITNESSES).exists()
    stranger = Cosigner("stranger.example", generate_key(), int(clock.now().timestamp()))
    assert not verified(tmp_path / "e", "--witness", stranger.vkey)["ok"]


def test_a_line_that_no_witness_signed_spoils_no_export(
    connect_as: Connect, sequence: Sequence, tmp_path: Path
) -> None:
    """As any serving role could put it there: the export verifies, and nobody vouches by it."""
    web, notary = connect_as("web"), witness()
    for line in ("garbage", notary.line("another text\n"), "— a b\n\n— c d\n"):
        add_events(web, 1)
        web.execute(
            "INSERT INTO audit_cosignature (id, size, witness_id, line, signed_at, received_at) "
            "SELECT gen_random_uuid(), %s, id, %s, now(), now() FROM audit_witness",
            [sequence(), line],
        )
    exports.write(tmp_path / "e", Selection())
    assert verified(tmp_path / "e")["ok"]
    report = verified(tmp_path / "e", "--witness", notary.vkey)
    assert [problem["what"] for problem in report["problems"]] == [
        f"the witness {notary.name} has cosigned no checkpoint of this export that holds"
    ]


def test_checkpoints_that_nobody_cosigned_cost_no_query_each(
    connect_as: Connect, sequence: Sequence, tmp_path: Path
) -> None:
    web, counts = connect_as("web"), []
    notary = witness()
    sequence()
    cosign(notary)
    for part in range(2):
        for _ in range(5):
            add_events(web, 1)
            sequence()
        with CaptureQueriesContext(connections[AUDITOR]) as caught:
            exports.write(tmp_path / str(part), Selection())
        counts.append(len(caught))
    assert counts[0] == counts[1]
    assert len(queries.witnesses(using=AUDITOR)) == 1
