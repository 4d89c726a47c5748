"""What receipts and single proofs say that they prove; and a receipt whose two proofs lead into two logs."""

from __future__ import annotations

import json

import pytest

from audit.merkle.proof import Proof
from audit.merkle.tree import inclusion_proof, leaf_hash, root
from client.audit.main import main
from tests.client import synthetic


def proof(entries, index, size, signer):
    """The proof of an entry in the tree of the first `size` entries."""
    leaves = [leaf_hash(entry) for entry in entries[:size]]
    path = inclusion_proof(index, size, lambda level, at: root(leaves[at << level : (at + 1) << level]))
    return Proof(index, tuple(path), synthetic.checkpoint([signer], size, root(leaves)), entries[index])


def place(entries, kind):
    return next(at for at, entry in enumerate(entries) if json.loads(entry)["kind"] == kind)


@pytest.fixture
def said(tmp_path, entries, log_signer, capsys):
    """Verify a receipt with these proofs: the exit code and the lines."""

    def run(admission, release=None):
        name = json.loads(entries[place(entries, "submission.admitted")])["subject"]["id"]
        body = {"schema": "lingee-receipt/1", "submission": name, "log": log_signer.vkey}
        body["admission"] = admission.format()
        if release is not None:
            body["release"] = release.format()
        (tmp_path / "receipt.json").write_text(json.dumps(body))
        code = main(["verify", str(tmp_path / "receipt.json"), "--key", log_signer.vkey])
        return code, capsys.readouterr().out.splitlines()

    return run


def test_two_roots_at_one_size_are_a_fork(said, entries, log_signer):
    admitted, released = place(entries, "submission.admitted"), place(entries, "result.released")
    size = released + 2
    # The other log differs in an entry that neither proof shows.
    other = [*entries[: released + 1], b"another", *entries[released + 2 :]]
    good = proof(entries, admitted, size, log_signer)
    assert said(good, proof(entries, released, size, log_signer))[0] == 0
    code, lines = said(good, proof(other, released, size, log_signer))
    assert code == 1
    assert lines[0].startswith(f"BROKEN at entry {admitted} to {size - 1}: two roots were signed at {size} ")


def test_a_receipt_says_which_parts_were_proved(said, entries, log_signer):
    admitted, released = place(entries, "submission.admitted"), place(entries, "result.released")
    good = proof(entries, admitted, admitted + 1, log_signer)
    code, lines = said(good)
    assert (code, lines[0]) == (0, "OK")
    assert lines[2:] == [f"admission: entry {admitted}", "release: not in this file"]
    code, lines = said(good, proof(entries, released, released + 3, log_signer))
    assert code == 0
    assert lines[2:] == [f"admission: entry {admitted}", f"release: entry {released}"]
    code, lines = said(good, good)
    assert code == 1
    assert lines[2:4] == [f"admission: entry {admitted}", "release: not proved"]


def test_a_single_proof_names_its_entry(entries, log_signer, tmp_path, capsys):
    file = tmp_path / "entry.tlog-proof"
    file.write_text(proof(entries, 5, 9, log_signer).format())
    assert main(["verify", str(file), "--key", log_signer.vkey]) == 0
    body = json.loads(entries[5])
    lines = capsys.readouterr().out.splitlines()
    assert (lines[0], lines[2]) == ("OK", f"entry 5: {body['kind']}, subject {body['subject']['id']}")
    file.write_text(proof([b"junk", b"more"], 0, 2, log_signer).format())
    assert main(["verify", str(file), "--key", log_signer.vkey]) == 0
    assert "no event" in capsys.readouterr().out
