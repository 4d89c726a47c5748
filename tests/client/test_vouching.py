"""`verify --witness`: what witnesses vouch for in an export, and every way in which they do not."""

from __future__ import annotations

import base64
import json

import pytest

from audit.merkle.export import CHECKPOINTS, WITNESSES, frame, listed, unframe
from audit.merkle.note import Cosigner
from client.audit.main import main
from client.audit.source import Folder
from client.audit.trust import parse_keys
from tests.client import synthetic
from tests.client.conftest import SIZES

LATER = synthetic.BEGIN + 3600


@pytest.fixture
def notary():
    return synthetic.witness("notary.example")


@pytest.fixture
def college():
    return synthetic.witness("college.example", LATER)


@pytest.fixture
def cosigned(tmp_path, entries, log_signer, notary, college):
    """Both vouch at 300, the college alone at 600 as well; nobody for the newest."""
    plan = {300: [notary, college], 600: [college]}
    synthetic.export(tmp_path / "cosigned", entries, [log_signer], sizes=SIZES, cosigned=plan)
    return tmp_path / "cosigned"


def notes_of(folder):
    with Folder(folder).stream(CHECKPOINTS) as file:
        return list(unframe(file))


def rewrite(folder, change):
    """Change each note, and make the manifest fit."""
    (folder / CHECKPOINTS).write_bytes(b"".join(frame(change(note)) for note in notes_of(folder)))
    synthetic.rehash(folder)


def sentences(report):
    return [problem["what"] for problem in report["problems"]]


def test_each_witness_vouches_up_to_the_last_that_it_cosigned(audit, cosigned, notary, college, entries):
    code, report = audit(cosigned, "--strict", "--witness", notary.vkey, "--witness", college.vkey)
    assert (code, report["ok"], report["problems"]) == (0, True, [])
    fields = ("name", "key", "cosigned", "size", "at", "time")
    rows = [
        ("notary.example", notary.vkey, 1, 300, synthetic.BEGIN, "2026-09-21T14:13:20Z"),
        ("college.example", college.vkey, 2, 600, LATER, "2026-09-21T15:13:20Z"),
    ]
    assert report["witnesses"] == [dict(zip(fields, row, strict=True)) for row in rows]
    assert len(entries) > 600


def test_a_person_reads_up_to_where_and_when(cosigned, notary, log_signer, entries, capsys):
    command = ["verify", str(cosigned), "--key", log_signer.vkey, "--witness", notary.vkey]
    assert main(command) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "OK"
    whole = len(entries)
    assert (
        f"witness notary.example: vouches for the first 300 of {whole} entries as of 2026-09-21T14:13:20Z; "
        f"only the log's own key vouches for the last {whole - 300}"
    ) in lines


def test_the_exports_own_list_names_them_but_only_who_is_asked_for_counts(audit, cosigned, notary, college):
    assert parse_keys((cosigned / WITNESSES).read_text()) == [notary.verifier, college.verifier]
    code, report = audit(cosigned)
    assert (code, report["witnesses"]) == (0, [])
    code, report = audit(cosigned, "--witness", cosigned / WITNESSES, "--witness", notary.vkey)
    assert (code, [found["name"] for found in report["witnesses"]]) == (
        0,
        ["notary.example", "college.example"],
    )


def test_who_cosigned_nothing_is_missed(audit, cosigned, exported, notary, log_signer, capsys):
    stranger = synthetic.witness("absent.example")
    code, report = audit(cosigned, "--witness", notary.vkey, "--witness", stranger.vkey)
    assert (code, report["first_bad_index"]) == (1, None)
    assert sentences(report) == [
        "the witness absent.example has cosigned no checkpoint of this export that holds"
    ]
    assert [found["size"] for found in report["witnesses"]] == [300, None]
    code, report = audit(exported, "--witness", notary.vkey)
    assert (code, len(report["problems"])) == (1, 1)
    assert main(["verify", str(exported), "--key", log_signer.vkey, "--witness", notary.vkey]) == 1
    out = capsys.readouterr().out
    assert out.startswith("BROKEN\n")
    assert "witness notary.example: no cosignature\n" in out


def test_a_witness_of_the_same_name_with_another_key_is_another(audit, cosigned):
    namesake = synthetic.witness("notary.example")
    code, report = audit(cosigned, "--witness", namesake.vkey)
    assert code == 1
    (what,) = sentences(report)
    assert what.endswith("no checkpoint of this export that holds; lines in its name are by another key")


@pytest.mark.parametrize("at", [4, 11, 12, 40, 75])
def test_one_changed_bit_in_a_cosignature_is_found(audit, cosigned, college, at):
    """In its time or in its signature; with the good one at 600 still there."""

    def tampered(note):
        if note.split("\n")[1] != "300":
            return note
        head, _, encoded = note.rstrip("\n").rpartition(" ")
        data = bytearray(base64.b64decode(encoded))
        data[at] ^= 1
        return f"{head} {base64.b64encode(data).decode()}\n"

    rewrite(cosigned, tampered)
    assert audit(cosigned)[0] == 0, "who names no witness relies on none"
    code, report = audit(cosigned, "--witness", college.vkey)
    assert (code, report["first_bad_index"], report["witnesses"][0]["size"]) == (1, None, 600)
    (what,) = sentences(report)
    assert what.endswith("the witness college.example is wrong, under the checkpoint of 300 entries")


def test_a_cosignature_moved_under_another_checkpoint_is_wrong(audit, cosigned, notary):
    line = next(row for row in notes_of(cosigned)[2].splitlines() if row.startswith("— notary"))
    rewrite(cosigned, lambda note: f"{note}{line}\n" if line not in note else note)
    code, report = audit(cosigned, "--witness", notary.vkey)
    assert (code, report["witnesses"][0]["cosigned"]) == (1, 1)
    assert sentences(report)[0].endswith(f"checkpoint of 100 entries and under {len(SIZES) - 1} more")


def test_a_fork_that_a_witness_cosigned_does_not_count(audit, tmp_path, entries, log_signer, notary):
    """The log signed another root at 300 than its entries lead to; the witness saw that one."""
    folder = tmp_path / "fork"
    synthetic.export(folder, entries, [log_signer], sizes=SIZES)
    other = synthetic.cosign(synthetic.checkpoint([log_signer], 300, b"r" * 32), [notary])
    rewrite(folder, lambda note: other if note.split("\n")[1] == "300" else note)
    code, report = audit(folder, "--witness", notary.vkey)
    assert (code, report["witnesses"][0]["size"]) == (1, None)
    assert any("root that was signed at 300" in what for what in sentences(report))
    assert any("notary.example has cosigned no checkpoint" in what for what in sentences(report))


def test_a_time_that_no_calendar_reaches_is_told_as_a_number(audit, tmp_path, entries, log_signer):
    far = synthetic.witness(at=(1 << 63) - 1)
    synthetic.export(tmp_path / "e", entries, [log_signer], cosigned={300: [far]})
    code, report = audit(tmp_path / "e", "--witness", far.vkey)
    assert (code, report["witnesses"][0]["time"]) == (0, f"second {(1 << 63) - 1} since 1970")


def test_a_broken_list_of_witnesses_is_told(audit, cosigned):
    (cosigned / WITNESSES).write_bytes(b"garbage\n")
    code, report = audit(cosigned)
    assert (code, len(report["problems"])) == (1, 2)
    assert "witnesses.txt is no list of verifier keys" in str(report["problems"])
    (cosigned / WITNESSES).unlink()
    assert sentences(audit(cosigned)[1]) == ["witnesses.txt is missing"]


@pytest.mark.parametrize("kind", ["the log's key", "no key", "an empty file"])
def test_what_is_no_witnesss_key_is_a_wrong_question(audit, cosigned, log_signer, tmp_path, kind):
    (tmp_path / "empty").write_text("# nothing\n")
    given = {"the log's key": log_signer.vkey, "no key": "nobody", "an empty file": tmp_path / "empty"}[kind]
    code, report = audit(cosigned, "--witness", given)
    assert code == 2
    assert "--witness: " in report["error"]


def test_only_exports_are_asked_about_witnesses(audit, cosigned, notary, tmp_path):
    (tmp_path / "receipt.json").write_text(json.dumps({"schema": "lingee-receipt/1", "submission": "x"}))
    proof = tmp_path / "proof"
    assert main(["prove", str(cosigned), "--index", "0", "--out", str(proof)]) == 0
    assert audit(proof)[0] == 0
    for path in (tmp_path / "receipt.json", proof):
        code, report = audit(path, "--witness", notary.vkey)
        assert (code, "--witness is a question about exports" in report["error"]) == (2, True)


def test_a_witnesss_own_cosigned_checkpoint_serves_as_saved(
    audit, cosigned, entries, log_signer, notary, tmp_path
):
    """What `lgbench-audit witness` keeps can be handed to an auditor, whatever the operator left out."""
    note = synthetic.checkpoints(entries, {450}, [log_signer])[0]
    (tmp_path / "kept").write_text(synthetic.cosign(note, [notary]))
    assert audit(cosigned, "--since", tmp_path / "kept", "--witness", notary.vkey)[0] == 0


def test_names_stay_in_their_comment_and_what_is_no_key_is_left_out(notary):
    other = Cosigner("other.example", notary._key, 0)
    text = listed([(f"Notary\n{other.vkey}\u2028x", notary.vkey), ("Bad", f"garbage\n{other.vkey}")])
    assert parse_keys(text) == [notary.verifier]
