"""A proof of one entry, as auditors download it, is checked by the same command as exports and receipts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from audit.merkle.checkpoint import Checkpoint
from audit.merkle.note import Signer, generate_key
from audit.merkle.proof import Proof
from audit.merkle.tree import leaf_hash, node_hash
from client.audit.main import BROKEN, FINE, WRONG, main

ENTRY, OTHER = b'{"kind":"test.one"}', b'{"kind":"test.two"}'
SIGNER = Signer("log.example", generate_key())


def proof(
    entry: bytes | None = ENTRY, *, index: int = 1, sibling: bytes = OTHER, signer: Signer = SIGNER
) -> Proof:
    """ENTRY is the second of two leaves: its path is the other leaf alone."""
    root = node_hash(leaf_hash(OTHER), leaf_hash(ENTRY))
    note = signer.sign(Checkpoint("log.example", 2, root).body())
    return Proof(index, (leaf_hash(sibling),), note, entry)


def ask(path: Path, found: Proof, *more: str) -> int:
    file = path / "entry.tlog-proof"
    file.write_text(found.format(), encoding="utf-8")
    return main(["verify", str(file), "--key", SIGNER.vkey, *more])


def test_a_proof_is_taken_with_its_entry_under_the_key(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ask(tmp_path, proof(), "--json") == FINE
    assert '"size": 2' in capsys.readouterr().out


def test_of_several_keys_the_one_that_signed_counts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    keys, file = tmp_path / "log.key", tmp_path / "p"
    other = Signer("log.example", generate_key()).vkey
    keys.write_text(f"{other}\n{SIGNER.vkey}\n")
    file.write_text(proof().format())
    assert main(["verify", str(file), "--key", str(keys), "--json"]) == FINE
    assert json.loads(capsys.readouterr().out)["key"] == SIGNER.vkey
    keys.write_text(f"{other}\n")
    assert main(["verify", str(file), "--key", str(keys)]) == BROKEN


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"entry": OTHER}, "does not lead"),
        ({"entry": None}, "does not hold its entry"),
        ({"index": 0}, "does not lead"),
        ({"sibling": b"x"}, "does not lead"),
        ({"signer": Signer("log.example", generate_key())}, "key"),
    ],
)
def test_whatever_is_changed_in_it_is_found(
    changes: dict[str, object], says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ask(tmp_path, proof(**changes)) == BROKEN  # type: ignore[arg-type]
    assert says in capsys.readouterr().out


def test_a_proof_answers_no_question_about_earlier_checkpoints(tmp_path: Path) -> None:
    (tmp_path / "old").write_text("x", encoding="utf-8")
    assert ask(tmp_path, proof(), "--since", str(tmp_path / "old")) == WRONG
