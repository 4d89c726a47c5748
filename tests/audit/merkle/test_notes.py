"""Signed notes, cosignatures, checkpoints and proofs of C2SP, on the specifications' own examples and on odd input."""

from __future__ import annotations

import base64
import hashlib
import stat

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from hypothesis import given
from hypothesis import strategies as st

from audit.merkle import note, proof, tree
from audit.merkle.checkpoint import Checkpoint, CheckpointInvalid, open_checkpoint

# The example of golang.org/x/mod/sumdb/note, whose format C2SP describes.
PETER = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
PETERS_NOTE = (
    "If you think cryptography is the answer to your problem,\n"
    "then you don't know what your problem is.\n"
    "\n"
    "— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n"
)
ORIGIN = "example.com/behind-the-sofa"
BODY = f"{ORIGIN}\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n"
SEED = bytes(range(32))


def fixed_key(number=0):
    return ed25519.Ed25519PrivateKey.from_private_bytes(bytes([number]) * 32)


@pytest.fixture
def log():
    return note.Signer(ORIGIN, fixed_key(1))


def test_the_public_example_opens():
    body, names = note.open_note(PETERS_NOTE, [note.Verifier.parse(PETER)])
    assert names == ["PeterNeumann"]
    assert body == PETERS_NOTE.rpartition("\n—")[0]


def test_a_changed_example_does_not_open():
    with pytest.raises(note.NoteInvalid, match="wrong"):
        note.open_note(PETERS_NOTE.replace("answer", "Answer"), [note.Verifier.parse(PETER)])


def test_a_note_by_hand(log):
    """The line is key id and signature in base64, the id the first bytes of SHA-256(name ‖ 0A ‖ 01 ‖ key)."""
    key = fixed_key(1)
    public = key.public_key().public_bytes_raw()
    identifier = hashlib.sha256(ORIGIN.encode() + b"\n\x01" + public).digest()[:4]
    line = base64.b64encode(identifier + key.sign(BODY.encode())).decode()
    assert log.sign(BODY) == f"{BODY}\n— {ORIGIN} {line}\n"
    encoded = base64.b64encode(b"\x01" + public).decode()
    assert log.vkey == f"{ORIGIN}+{identifier.hex()}+{encoded}"
    assert note.Verifier.parse(log.vkey) == log.verifier


def test_a_cosignature_by_hand(log):
    """Type 04, the time in eight bytes before the signature, and both in what is signed."""
    key = fixed_key(2)
    public = key.public_key().public_bytes_raw()
    identifier = hashlib.sha256(b"w.example/1\n\x04" + public).digest()[:4]
    message = b"cosignature/v1\ntime 1679315147\n" + BODY.encode()
    data = identifier + (1679315147).to_bytes(8, "big") + key.sign(message)
    signed = note.add_signature(log.sign(BODY), note.Cosigner("w.example/1", key, 1679315147))
    assert signed.endswith(f"\n— w.example/1 {base64.b64encode(data).decode()}\n")
    witness = note.Cosigner("w.example/1", key, 0).verifier
    assert [item.at for item in note.parse_note(signed).verified([witness])] == [1679315147]


def test_signatures_of_unknown_keys_are_ignored(log):
    stranger = note.Signer(ORIGIN, fixed_key(3))
    signed = note.add_signature(stranger.sign(BODY), log)
    assert note.open_note(signed, [log.verifier]) == (BODY, [ORIGIN])
    with pytest.raises(note.NoteInvalid, match="no known key"):
        note.open_note(stranger.sign(BODY), [log.verifier])


def test_a_wrong_signature_of_a_known_key_spoils_the_note(log):
    other = log.sign(BODY.replace("20852163", "20852164"))
    witness = note.Cosigner("w.example", fixed_key(2), 5)
    mixed = note.add_line(log.sign(BODY), witness.line("something else\n"))
    for wrong in (BODY + other[len(BODY) :], mixed):
        with pytest.raises(note.NoteInvalid, match="wrong"):
            note.open_note(wrong, [log.verifier, witness.verifier])


@pytest.mark.parametrize(
    "text",
    [
        *("", "\n", "text\n", "text\n\n", f"text\n— {ORIGIN} AAAAAAA=\n", "text\n\n— a AAAAAAA="),
        *("text\n\n- a AAAAAAA=\n", "text\n\n— a\n", "text\n\n— a AAAA!AA=\n", "text\n\n—  AAAAAAA=\n"),
        *("text\n\n— a+b AAAAAAA=\n", "text\n\n— a AAAA\n", "te\x07xt\n\n— a AAAAAAA=\n"),
        *("te\rxt\n\n— a AAAAAAA=\n", "text\n\n— a AAAAAAB=\n", "text\n\n" + "— a AAAAAAA=\n" * 129),
        *("text\n\n— a AAAAAAA=\nmore\n", "x" * 70_000 + "\n\n— a AAAAAAA=\n"),
    ],
)
def test_malformed_notes_are_refused(text):
    with pytest.raises(note.NoteInvalid):
        note.parse_note(text)


def test_the_last_empty_line_separates(log):
    body = "a\n\n— b AAAAAAA=\n\nc\n"
    assert note.open_note(log.sign(body), [log.verifier])[0] == body


@pytest.mark.parametrize("body", ["", "no newline", "bell\x07\n"])
def test_what_is_no_text_is_not_signed(log, body):
    with pytest.raises(note.NoteInvalid):
        log.sign(body)


@pytest.mark.parametrize("name", ["", "a b", "a+b", "a\u2003b", "a\nb"])
def test_names_that_cannot_stand_in_a_note(name):
    with pytest.raises(note.NoteInvalid):
        note.Signer(name, fixed_key())


@pytest.mark.parametrize(
    "vkey",
    [
        *("", "a", "a+b", "PeterNeumann+c74f20a3", PETER.replace("c74f20a3", "c74f20a4"), PETER + "A"),
        *(PETER.replace("Peter", "Piet"), "a+00000000+BAAA", PETER.replace("+ARpc", "+AhpC")),
    ],
)
def test_malformed_verifier_keys(vkey):
    with pytest.raises(note.NoteInvalid):
        note.Verifier.parse(vkey)


@given(st.text(max_size=60))
def test_any_text_is_a_note_or_refused(text):
    try:
        found = note.parse_note(text)
    except note.NoteInvalid:
        return
    assert found.signatures


@given(st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1, max_size=60))
def test_what_was_signed_is_opened(text):
    signer = note.Signer("k.example", fixed_key(4))
    assert note.open_note(signer.sign(f"{text}\n"), [signer.verifier])[0] == f"{text}\n"


def test_keys_are_kept_readable_by_the_owner_only(tmp_path):
    key = note.generate_key()
    note.save_key(tmp_path / "key.pem", key)
    assert stat.S_IMODE((tmp_path / "key.pem").stat().st_mode) == 0o600
    assert note.load_key(tmp_path / "key.pem").public_key() == key.public_key()
    with pytest.raises(FileExistsError):
        note.save_key(tmp_path / "key.pem", key)


def test_files_without_an_ed25519_key_are_refused(tmp_path):
    other = ec.generate_private_key(ec.SECP256R1()).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    for data in (b"nothing", other):
        (tmp_path / "key.pem").write_bytes(data)
        with pytest.raises(note.NoteInvalid):
            note.load_key(tmp_path / "key.pem")


def test_the_specifications_checkpoint():
    found = Checkpoint.parse(BODY)
    assert (found.origin, found.size, found.root.hex()[:8]) == (ORIGIN, 20852163, "0ac5186a")
    assert found.body() == BODY


ROOT = "CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I="


@pytest.mark.parametrize(
    "text",
    [
        *("", "o\n1\n", f"o\n1\n{ROOT}", f"\n1\n{ROOT}\n", f"o\n01\n{ROOT}\n", f"o\n-1\n{ROOT}\n"),
        *(f"o\n1\n{ROOT}\nextension\n", f"o\n1\n{ROOT[:-4]}\n", f"o\n+1\n{ROOT}\n", f"o\n1 \n{ROOT}\n"),
        *(
            f"o\n0\n{ROOT}\n",
            f"o\n٣\n{ROOT}\n",
            f"o\n99999999999999999999\n{ROOT}\n",
            f"o\n1\n{ROOT[:-2]}J=\n",
        ),
    ],
)
def test_malformed_checkpoints(text):
    with pytest.raises(CheckpointInvalid):
        Checkpoint.parse(text)


def test_a_checkpoint_needs_the_log_itself(log):
    witness = note.Cosigner("w.example", fixed_key(2), 7)
    alone = f"{BODY}\n{witness.line(BODY)}"
    with pytest.raises(note.NoteInvalid, match="this log"):
        open_checkpoint(alone, [log.verifier, witness.verifier])
    namesake = note.Signer("other.example", fixed_key(5))
    with pytest.raises(note.NoteInvalid, match="this log"):
        open_checkpoint(namesake.sign(BODY), [namesake.verifier])
    assert open_checkpoint(note.add_signature(alone, log), [log.verifier]).size == 20852163


ENTRY = b'{"a":1}'
LEAVES = [tree.leaf_hash(b"left"), tree.leaf_hash(ENTRY), tree.leaf_hash(b"right")]
PATH = (LEAVES[0], LEAVES[2])


@pytest.fixture
def made(log):
    return proof.Proof(1, PATH, log.sign(Checkpoint(ORIGIN, 3, tree.root(LEAVES)).body()), ENTRY)


def test_a_proof_by_hand(log, made):
    lines = ["c2sp.org/tlog-proof@v1", "extra eyJhIjoxfQ==", "index 1"]
    lines += [base64.b64encode(digest).decode() for digest in PATH]
    assert made.format() == "\n".join(lines) + "\n\n" + made.checkpoint
    assert proof.Proof.parse(made.format()) == made
    assert proof.verify(made, ENTRY, [log.verifier]).size == 3
    bare = proof.Proof(1, PATH, made.checkpoint)
    assert proof.Proof.parse(bare.format()) == bare
    assert "extra" not in bare.format()


def test_a_proof_of_another_entry_index_or_log(log, made):
    with pytest.raises(tree.ProofInvalid):
        proof.verify(made, b"{}", [log.verifier])
    with pytest.raises(tree.ProofInvalid):
        proof.verify(proof.Proof(2, PATH, made.checkpoint), ENTRY, [log.verifier])
    with pytest.raises(note.NoteInvalid):
        proof.verify(made, ENTRY, [note.Signer(ORIGIN, fixed_key(9)).verifier])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        *[("@v1", "@v2"), ("index 1", "index 01"), ("index 1", "index -1"), ("index 1\n", "")],
        *[("extra eyJhIjoxfQ==", "extra eyJhIjoxfQ"), ("\n\n", "\n"), ("index 1", "index 1\nAAAA")],
        *[("extra ", "Extra "), ("index 1", "index 1 "), ("index 1", "index 1" + "\n" + "A" * 43 + "B")],
    ],
)
def test_malformed_proofs(made, old, new):
    text = made.format()
    assert old in text
    with pytest.raises(tree.ProofInvalid):
        proof.Proof.parse(text.replace(old, new) if old != "\n\n" else text.replace("\n\n", "\n"))
