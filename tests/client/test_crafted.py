"""Files and folders that somebody made to mislead or to stop the verifier: it says what they are, and ends."""

from __future__ import annotations

import json
import os
import shutil

import pytest

from audit.merkle.export import pack
from client.audit.main import main
from client.audit.report import Report
from tests.client import synthetic


def test_what_a_file_says_of_itself_moves_no_cursor(exported, log_signer, capsys):
    path = exported / "manifest.json"
    body = json.loads(path.read_text())
    origin = "x\x1b[2J\x1b[HOK\nfine \x9b1A\u202e\ud800"
    path.write_text(json.dumps({**body, "origin": origin}))
    assert main(["verify", str(exported), "--key", log_signer.vkey]) == 1
    out = capsys.readouterr().out
    assert "x\\x1b[2J\\x1b[HOK\\nfine \\x9b1A\\u202e\\ud800" in out
    assert all(mark.isprintable() or mark == "\n" for mark in out)
    assert main(["verify", str(exported), "--key", log_signer.vkey, "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["origin"] == origin


def test_chinese_is_shown_as_it_is():
    assert Report("供应链助手", "receipt").lines()[1].startswith("供应链助手, log")


def rewrite(exported, change):
    path = exported / "manifest.json"
    body = json.loads(path.read_text())
    change(body)
    path.write_text(json.dumps(body))


@pytest.mark.timeout(60)
@pytest.mark.parametrize(("size", "code"), [(-1, 2), (10**15, 1), (10**11, 1), (10**30, 2)])
def test_a_size_that_no_files_hold(audit, exported, size, code):
    rewrite(exported, lambda body: body.update(size=size))
    assert audit(exported)[0] == code


def test_a_manifest_or_receipt_nested_past_all_limits(audit, exported, tmp_path):
    deep = b'{"a":' + b"[" * 100_000
    (exported / "manifest.json").write_bytes(deep)
    (tmp_path / "receipt.json").write_bytes(deep)
    assert audit(exported)[0] == audit(tmp_path / "receipt.json")[0] == 2


def test_a_receipt_with_half_a_character(audit, tmp_path):
    body = {"schema": "lingee-receipt/1", "submission": "x", "admission": "c2sp.org/tlog-proof@v1\n\n\ud800"}
    (tmp_path / "receipt.json").write_text(json.dumps(body))
    assert audit(tmp_path / "receipt.json")[0] == 2


def test_a_tile_of_a_number_that_has_no_end(audit, exported):
    rewrite(exported, lambda body: body["files"].update({"tile/0/" + "x123/" * 1500 + "000": "0" * 64}))
    code, report = audit(exported)
    assert (code, "no part of this export" in report["problems"][0]["what"]) == (1, True)


def test_a_manifest_larger_than_any(audit, exported):
    os.truncate(exported / "manifest.json", 6 << 30)
    assert audit(exported)[0] == 2


def test_a_pipe_in_place_of_a_file_is_not_waited_for(audit, exported, tmp_path):
    (exported / "checkpoints.txt").unlink()
    os.mkfifo(exported / "checkpoints.txt")
    code, report = audit(exported)
    assert (code, "checkpoints.txt is missing" in str(report["problems"])) == (1, True)
    os.mkfifo(tmp_path / "pipe")
    assert audit(tmp_path / "pipe")[0] == 2


def test_a_linked_folder_is_not_followed(audit, exported, tmp_path):
    shutil.move(exported / "tile", tmp_path / "elsewhere")
    (exported / "tile").symlink_to(tmp_path / "elsewhere")
    assert audit(exported)[0] == 1
    (tmp_path / "link").symlink_to(exported)
    (exported / "tile").unlink()
    shutil.move(tmp_path / "elsewhere", exported / "tile")
    assert audit(tmp_path / "link")[0] == 0


def test_no_proof_from_a_bundle_that_is_too_short(exported, entries, capsys):
    path = max(path for path in (exported / "entries").rglob("*") if path.is_file())
    data = path.read_bytes()
    path.write_bytes(data[: 2 + int.from_bytes(data[:2], "big")])
    assert main(["prove", str(exported), "--index", str(len(entries) - 1)]) == 2
    assert "lacks a part" in capsys.readouterr().err


def header(size, kind=b"0"):
    """One tar header with this field for the size, and the end of the archive."""
    block = bytearray(512)
    block[:13], block[100:108], block[124:136], block[156:157] = b"manifest.json", b"0000644\0", size, kind
    block[148:156] = b" " * 8
    block[257:265] = b"ustar\x0000"
    block[148:156] = b"%06o\0 " % sum(block)
    return bytes(block) + bytes(1024)


TARS = {
    "negative": header(b"\xff" * 12),
    "one block back": header(b"\xff" * 10 + b"\xfe\x00"),
    "huge": header(b"\x80" + b"\0" * 3 + b"\x7f" + b"\xff" * 7),
    "a huge header": header(b"77777777777\0", b"x"),
    "a negative header": header(b"\xff" * 10 + b"\xfe\x00", b"x"),
    "a huge name": header(b"77777777777\0", b"L"),
}


@pytest.mark.timeout(60)
@pytest.mark.parametrize("what", TARS)
def test_tars_with_sizes_that_cannot_be(audit, tmp_path, what):
    (tmp_path / "export.tar").write_bytes(TARS[what])
    assert audit(tmp_path / "export.tar")[0] == 2


def test_a_list_of_keys_that_is_none(audit, exported, tmp_path):
    (exported / "keys.txt").write_bytes(b"garbage\n")
    synthetic.rehash(exported)
    code, report = audit(exported)
    assert (code, "no list of verifier keys" in report["problems"][0]["what"]) == (1, True)
    pack(exported, tmp_path / "export.tar")
    assert audit(tmp_path / "export.tar") == (code, report)


def test_the_table_for_people_is_said_to_be_unchecked(exported, log_signer, capsys):
    (exported / "events.csv").write_text("lies\n")
    synthetic.rehash(exported)
    assert main(["verify", str(exported), "--key", log_signer.vkey, "--strict"]) == 0
    assert "notice: events.csv was not compared with the entries" in capsys.readouterr().out.splitlines()
