"""The command as its user meets it: exit codes, what it prints, receipts, proofs."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
import tarfile

import pytest

from audit.merkle.export import pack
from audit.merkle.note import Verifier
from audit.merkle.proof import Proof, verify
from audit.merkle.tree import Frontier, leaf_hash
from client.audit.main import main
from client.audit.prove import Prover
from client.audit.source import Folder
from tests.client import synthetic
from tests.client.conftest import SIZES
from tests.servers import ROOT


def place(entries, kind, nth=0):
    return [at for at, entry in enumerate(entries) if json.loads(entry)["kind"] == kind][nth]


@pytest.fixture
def receipt(tmp_path, exported, entries, log_signer):
    """The receipt of the first submission, both proofs in it."""
    prover = Prover(Folder(exported))
    admitted, released = place(entries, "submission.admitted"), place(entries, "result.released")
    body = {
        "schema": "lingee-receipt/1",
        "submission": json.loads(entries[admitted])["subject"]["id"],
        "log": log_signer.vkey,
        "admission": prover.prove(admitted).format(),
        "release": prover.prove(released).format(),
    }
    path = tmp_path / "receipt.json"

    def write(**changes):
        made = {name: value for name, value in {**body, **changes}.items() if value is not None}
        path.write_text(json.dumps(made))
        return path

    return write


def test_a_tar_is_read_as_its_directory(audit, exported, tmp_path):
    pack(exported, tmp_path / "export.tar")
    whole = audit(exported, "--strict")
    assert whole[0] == 0
    assert audit(tmp_path / "export.tar", "--strict") == whole
    assert audit(tmp_path / "export.tar", "--strict", "--jobs", "2") == whole
    with tarfile.open(tmp_path / "other.tar", "w") as archive:
        archive.add(exported, arcname="some/folder")
    assert audit(tmp_path / "other.tar") == audit(exported)


def test_a_tar_is_the_same_bytes_each_time(exported, tmp_path):
    pack(exported, tmp_path / "one.tar")
    (exported / "keys.txt").touch()
    pack(exported, tmp_path / "two.tar")
    assert (tmp_path / "one.tar").read_bytes() == (tmp_path / "two.tar").read_bytes()


def test_an_empty_log(audit, tmp_path, log_signer):
    synthetic.export(tmp_path / "e", [], [log_signer])
    code, report = audit(tmp_path / "e", "--strict")
    assert (code, report["size"]) == (0, 0)


@pytest.mark.parametrize("size", [1, 255, 256, 257, 512])
def test_logs_of_all_widths(audit, tmp_path, entries, log_signer, size):
    synthetic.export(tmp_path / "e", entries[:size], [log_signer], sizes={1, 2, size - 1, size} - {0})
    assert audit(tmp_path / "e", "--strict")[0] == 0


def test_a_log_of_three_levels_of_tiles(audit, tmp_path, log_signer):
    rows = [b"%d" % number for number in range(65_536 + 300)]
    synthetic_export(tmp_path / "e", rows, log_signer, sizes={1, 65_536, 65_537})
    assert audit(tmp_path / "e", "--jobs", "2")[0] == 0
    path = tmp_path / "e/tile/1/000"
    data = bytearray(path.read_bytes())
    data[32 * 200] ^= 1
    path.write_bytes(bytes(data))
    synthetic.rehash(tmp_path / "e")
    code, report = audit(tmp_path / "e")
    assert (code, report["first_bad_index"], report["problems"][0]["last"]) == (1, 51_200, 51_455)


def synthetic_export(folder, rows, signer, sizes):
    """An export of entries that are no events."""
    from audit.merkle.export import ExportWriter

    writer = ExportWriter(folder, signer.name)
    writer.extend(rows)
    notes = synthetic.checkpoints(rows, {*sizes, len(rows)}, [signer])
    writer.finish(checkpoints=notes, keys=[signer.vkey], made_at="")


def test_what_a_person_reads(exported, log_signer, tmp_path, capsys):
    (tmp_path / "key").write_text(f"# the log's key\n{log_signer.vkey}\n")
    assert main(["verify", str(exported), "--key", str(tmp_path / "key")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "OK"
    assert "disclosed" in lines[1]
    path = exported / "entries/000"
    path.write_bytes(path.read_bytes().replace(b"owner", b"guest", 1))
    synthetic.rehash(exported)
    assert main(["verify", str(exported), "--key", log_signer.vkey]) == 1
    assert capsys.readouterr().out.startswith("BROKEN at entry 1: it does not hash to the leaf in its tile\n")


@pytest.mark.parametrize(
    "arguments",
    [
        *(["verify", "/nonexistent", "--key", "KEY"], ["verify", "EMPTY", "--key", "KEY"]),
        *(["verify", "EXPORT", "--key", "no key"], ["verify", "EXPORT", "--key", "EXPORT/keys.txt/x"]),
        *(["verify", "EXPORT/keys.txt", "--key", "KEY"], ["verify", "EXPORT/manifest.json", "--key", "KEY"]),
        *(["verify", "EXPORT", "--key", "KEY", "--since", "EXPORT/keys.txt"], ["verify", "EXPORT"], []),
        *(
            ["verify", "EXPORT", "--key", "KEY", "--strict", "--proofs"],
            ["prove", "EXPORT", "--index", "99999"],
        ),
        *(
            ["prove", "EMPTY", "--index", "0"],
            ["witness", "--url", "ftp://x", "--key", "KEY", "--state", "S"],
        ),
        *(["verify", "RECEIPT", "--key", "KEY", "--since", "EXPORT/keys.txt"], ["nonsense"]),
    ],
    ids=lambda value: "-".join(value[:3]) or "nothing",
)
def test_wrong_questions(arguments, exported, log_signer, tmp_path, receipt, capsys):
    (tmp_path / "empty").mkdir()
    names = {"EXPORT": exported, "EMPTY": tmp_path / "empty", "RECEIPT": receipt(), "S": tmp_path / "s"}
    words = [str(word).replace("KEY", log_signer.vkey) for word in arguments]
    for name, path in names.items():
        words = [str(path) + word.removeprefix(name) if word.startswith(name) else word for word in words]
    try:
        assert main(words) == 2
    except SystemExit as stop:
        assert stop.code == 2  # noqa: PT017
    assert capsys.readouterr().err


def test_a_saved_checkpoint_of_another_log_is_a_wrong_question(exported, tmp_path, log_signer):
    stranger = synthetic.signer()
    (tmp_path / "saved").write_text(synthetic.checkpoint([stranger], 5, bytes(32)))
    command = ["verify", str(exported), "--key", log_signer.vkey, "--since", str(tmp_path / "saved")]
    assert main(command) == 2


@pytest.mark.parametrize("size", sorted(SIZES))
def test_a_saved_checkpoint_that_is_a_prefix(audit, exported, entries, log_signer, tmp_path, size):
    (tmp_path / "saved").write_text(synthetic.checkpoints(entries, {size - 7}, [log_signer])[0])
    assert audit(exported, "--since", tmp_path / "saved")[0] == 0


def test_a_receipt(audit, receipt, entries):
    code, report = audit(receipt())
    assert (code, report["checkpoints"], report["size"]) == (0, 2, len(entries))
    assert audit(receipt(release=None))[0] == 0


def test_a_receipt_from_before_and_after_a_change_of_keys(
    audit, receipt, exported, entries, log_signer, tmp_path
):
    later = synthetic.signer()
    released = place(entries, "result.released")
    synthetic.export(tmp_path / "later", entries, [later])
    path = receipt(release=Prover(Folder(tmp_path / "later")).prove(released).format())
    (tmp_path / "keys").write_text(f"{log_signer.vkey}\n{later.vkey}\n")
    assert audit(path, key=str(tmp_path / "keys"))[0] == 0
    assert audit(path)[0] == audit(path, key=later.vkey)[0] == 1
    assert audit(exported, key=tmp_path / "keys")[1]["key"] == log_signer.vkey


def test_receipts_that_are_not_right(audit, receipt, exported, entries, log_signer):
    prover = Prover(Folder(exported))
    other = prover.prove(place(entries, "submission.admitted", 1)).format()
    read = prover.prove(place(entries, "result.read")).format()
    good = json.loads(receipt().read_text())
    for changes in (
        {"admission": other},
        {"release": read},
        {"admission": good["release"], "release": good["admission"]},
        {"admission": None},
        {"admission": "nothing"},
        {"submission": synthetic.Scribe(9).id()},
    ):
        assert audit(receipt(**changes))[0] == 1, changes
    assert audit(receipt(), key=synthetic.signer().vkey)[0] == 1


def test_a_receipt_with_one_changed_bit(audit, receipt, exported, entries):
    at = place(entries, "submission.admitted")
    good = Prover(Folder(exported)).prove(at)
    changed = good.extra.replace(b'"publication_consent":1', b'"publication_consent":0')
    wrong = Proof(at, good.path, good.checkpoint, changed)
    code, report = audit(receipt(admission=wrong.format()))
    assert (code, report["first_bad_index"]) == (1, at)
    bare = Proof(at, good.path, good.checkpoint)
    assert audit(receipt(admission=bare.format()))[0] == 1


@pytest.mark.parametrize("index", [0, 255, 256, 511, 600, -1])
def test_a_proof_is_written(exported, entries, log_signer, tmp_path, index):
    index %= len(entries)
    out = tmp_path / "entry.tlog-proof"
    assert main(["prove", str(exported), "--index", str(index), "--out", str(out)]) == 0
    found = Proof.parse(out.read_text())
    assert found.extra == entries[index]
    assert verify(found, entries[index], [Verifier.parse(log_signer.vkey)]).size == len(entries)


def test_a_proof_of_a_withheld_entry_holds_no_entry(tmp_path, entries, log_signer):
    synthetic.export(tmp_path / "e", entries, [log_signer], withheld={3, 300, 301})
    found = Prover(Folder(tmp_path / "e")).prove(300)
    assert found.extra is None
    verify(found, entries[300], [log_signer.verifier])


def test_a_proof_against_an_older_checkpoint(tmp_path, entries, log_signer):
    """The latest checkpoint may be of a smaller tree than the tiles are."""
    from audit.merkle.export import ExportWriter

    for size in (300, 512, 520, 600):
        folder = tmp_path / str(size)
        writer = ExportWriter(folder, log_signer.name)
        writer.extend(entries)
        notes = synthetic.checkpoints(entries, {size}, [log_signer])
        writer.finish(checkpoints=notes, keys=[log_signer.vkey], made_at="")
        verify(Prover(Folder(folder)).prove(290), entries[290], [log_signer.verifier])


def test_as_a_module_in_another_process(exported, log_signer):
    command = [sys.executable, "-m", "client.audit", "verify", str(exported), "--key", log_signer.vkey]
    done = subprocess.run(
        command, env={"PYTHONPATH": str(ROOT / "platform")}, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout.split("\n")[0], done.stderr) == (0, "OK", "")


def test_the_writers_root(tmp_path, entries):
    from audit.merkle.export import ExportWriter

    writer, tree = ExportWriter(tmp_path / "e", "o"), Frontier()
    for entry in entries[:300]:
        writer.add(entry)
        tree.append(leaf_hash(entry))
        assert writer.root() == tree.root()
    assert base64.b64encode(writer.root())
