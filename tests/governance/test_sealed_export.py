"""A sealed export leads to what was released; two people take it for a reason, and that is an event first."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest

from audit.texts import is_of
from governance import sealed_export
from governance.sealed_export import ExportRefused
from submissions.models import Submission
from tests.accounts.duties import member_of_staff
from tests.governance.committed import (
    done,
    export,
    facts,
    incomplete,
    recomputed,
    staff,
)
from tests.submissions import world

pytestmark = pytest.mark.django_db(transaction=True)
Connect = Callable[[str], psycopg.Connection[Any]]
Sequence = Callable[[], int]


@pytest.mark.parametrize(("seed", "lost"), [(1, 0), (2, 0), (3, 1), (4, 5)])
def test_a_sealed_export_leads_to_what_was_released(
    running: Submission, sequence: Sequence, tmp_path: Path, capsys: Any, seed: int, lost: int
) -> None:
    if lost:
        incomplete(running, lost)
    else:
        done(running, seed)
    sequence()
    found = recomputed(export(running, tmp_path / "out"), capsys)
    assert (found["equal"], found["what"]) == (True, "")
    assert (found["runs"], found["tasks"], found["notices"]) == (16, 8, [])


def test_an_attempt_that_was_never_made_has_a_leaf(
    running: Submission, sequence: Sequence, tmp_path: Path, capsys: Any
) -> None:
    incomplete(running, 2, untried=1)
    sequence()
    folder = export(running, tmp_path / "out")
    leaves = [member["leaf"] for member in json.loads((folder / sealed_export.FILE).read_bytes())["runs"]]
    gone = [leaf for leaf in leaves if leaf["score"] == "unavailable"]
    assert [(leaf["artefact"], leaf["grader"]) for leaf in gone] == [("", "")] * 2
    assert sorted(leaf["attempt"] for leaf in gone) == [0, 2]
    assert recomputed(folder, capsys)["equal"]


def test_a_result_changed_behind_the_triggers_is_found(
    complete: Submission, servers: Any, sequence: Sequence, tmp_path: Path, capsys: Any
) -> None:
    sequence()
    with servers.superuser(servers.database) as root:
        root.execute("ALTER TABLE evaluation_taskresult DISABLE TRIGGER ALL")
        root.execute(
            "UPDATE evaluation_taskresult SET score = 0.5 WHERE id = (SELECT min(id) FROM evaluation_taskresult)"
        )
    found = recomputed(export(complete, tmp_path / "out"), capsys)
    assert (found["equal"], found["part"]) == (False, "root")


def test_taking_an_export_is_an_event_with_two_people_and_no_words(
    complete: Submission, sequence: Sequence, connect_as: Connect, tmp_path: Path
) -> None:
    sequence()
    file = export(complete, tmp_path / "out") / sealed_export.FILE
    said = facts(connect_as, "sealed_export.made", complete.id)
    assert said["content"] == hashlib.sha256(file.read_bytes()).hexdigest()
    assert len(set(said["people"])) == 2
    assert "yearly" not in json.dumps(said)
    assert is_of(said["reason"], "yearly audit 2026")
    assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)


def test_one_person_a_stranger_or_no_reason_get_nothing(complete: Submission, sequence: Sequence) -> None:
    sequence()
    one, other = staff(2)
    stranger = world.person()
    for people in ([one], [one, one], [one, stranger], [one, other, stranger]):
        with pytest.raises(ExportRefused):
            sealed_export.make(complete, reason="yearly audit", by=people)
    with pytest.raises(ExportRefused, match="decision_not_entitled"):
        sealed_export.make(complete, reason="yearly audit", by=[one, member_of_staff()])
    with pytest.raises(ExportRefused, match="reason"):
        sealed_export.make(complete, reason=" why ", by=[one, other])


def test_where_the_event_cannot_be_written_no_file_is(
    complete: Submission, sequence: Sequence, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sequence()

    def broken(*_: object, **__: object) -> None:
        raise psycopg.OperationalError("no log")

    monkeypatch.setattr("governance.sealed_export.log.append", broken)
    with pytest.raises(psycopg.OperationalError):
        export(complete, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_before_the_release_is_in_the_log_there_is_no_export(
    complete: Submission, running: Submission
) -> None:
    with pytest.raises(ExportRefused, match="in a few seconds"):
        sealed_export.make(complete, reason="yearly audit", by=staff(2))


def test_an_unreleased_submission_has_no_export(running: Submission) -> None:
    with pytest.raises(ExportRefused, match="not been released"):
        sealed_export.make(running, reason="yearly audit", by=staff(2))
