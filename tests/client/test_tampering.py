"""What an export's verifier finds: every kind of tampering with its files, and the first bad index.

Each change is made as somebody would who wants it to pass: the manifest is made to fit again. What needs the log's
key to be made to fit is exactly what is found.
"""

from __future__ import annotations

import base64
import json
import shutil

import pytest

from audit.merkle.export import frame, unframe
from audit.merkle.tiles import decode_bundle, encode_bundle
from audit.merkle.tree import Frontier, leaf_hash
from tests.client import synthetic
from tests.client.conftest import SIZES

pytestmark = pytest.mark.acceptance("log:2")


def edit(path, at, bit=1):
    data = bytearray(path.read_bytes())
    data[at] ^= bit
    path.write_bytes(bytes(data))


def bundle(folder, number):
    path = next(path for path in [folder / f"entries/{number:03}"] if path.exists())
    return path, decode_bundle(path.read_bytes())


def texts(report):
    return " ".join(item["what"] for item in report["problems"])


def notes(folder):
    with (folder / "checkpoints.txt").open("rb") as file:
        return list(unframe(file))


def write_notes(folder, found):
    (folder / "checkpoints.txt").write_bytes(b"".join(map(frame, found)))
    synthetic.rehash(folder)


@pytest.mark.parametrize("mode", ["--proofs", "--strict"])
def test_an_untouched_export_is_fine(audit, exported, entries, mode):
    code, report = audit(exported, mode)
    assert (code, report["ok"], report["first_bad_index"]) == (0, True, None)
    assert (report["size"], report["disclosed"], report["withheld"]) == (len(entries), len(entries), 0)
    assert report["checkpoints"] == len(SIZES) + 1


@pytest.mark.parametrize("position", [0, 5, 255, 256, 511, 512, 600])
def test_one_bit_of_an_entry(audit, exported, entries, position):
    number, offset = divmod(position, 256)
    path = next((exported / "entries").glob(f"{number:03}*"))
    path = path if path.is_file() else next(path.iterdir())
    rows = decode_bundle(path.read_bytes())
    rows[offset] = rows[offset][:40] + bytes([rows[offset][40] ^ 1]) + rows[offset][41:]
    path.write_bytes(encode_bundle(rows))
    synthetic.rehash(exported)
    code, report = audit(exported)
    assert (code, report["first_bad_index"]) == (1, position)
    assert "does not hash to the leaf" in texts(report)
    assert len(report["problems"]) == 1


@pytest.mark.parametrize("position", [0, 77, 300])
def test_one_bit_of_a_leaf(audit, exported, position):
    number, offset = divmod(position, 256)
    edit(exported / f"tile/0/{number:03}", offset * 32 + 9)
    synthetic.rehash(exported)
    code, report = audit(exported)
    assert (code, report["first_bad_index"]) == (1, position)
    assert "the leaf in its tile was changed" in texts(report)
    assert len(report["problems"]) == 1


@pytest.mark.parametrize("position", [3, 290])
def test_one_bit_of_a_withheld_leaf(audit, tmp_path, entries, log_signer, position):
    """Only the tile above and the root can tell; they say in which tile."""
    synthetic.export(tmp_path / "e", entries, [log_signer], sizes=SIZES, withheld=range(400))
    number, offset = divmod(position, 256)
    edit(tmp_path / f"e/tile/0/{number:03}", offset * 32)
    synthetic.rehash(tmp_path / "e")
    code, report = audit(tmp_path / "e")
    assert code == 1
    assert report["first_bad_index"] in ({0: {0}, 1: {256}}[number])
    assert report["problems"][0]["last"] >= position


@pytest.mark.parametrize("child", [0, 1])
def test_one_bit_of_a_higher_tile(audit, exported, child):
    path = next((exported / "tile/1").rglob("[0-9]*.p/*"))
    edit(path, child * 32 + 31, 0x80)
    synthetic.rehash(exported)
    code, report = audit(exported)
    assert (code, report["first_bad_index"]) == (1, 256 * child)
    assert "differs from the tiles below it" in texts(report)


@pytest.mark.parametrize("number", range(6))
def test_one_bit_of_a_checkpoints_body(audit, exported, number):
    found = notes(exported)
    lines = found[number].split("\n")
    lines[2] = ("B" if lines[2][0] != "B" else "C") + lines[2][1:]
    found[number] = "\n".join(lines)
    write_notes(exported, found)
    code, report = audit(exported)
    assert (code, report["first_bad_index"]) == (1, [0, *sorted(SIZES)][number])
    assert "signature" in texts(report)


@pytest.mark.parametrize("number", [0, 3, 5])
def test_one_bit_of_a_checkpoints_signature(audit, exported, number):
    found = notes(exported)
    at = found[number].rindex(" ") + 30
    letter = "A" if found[number][at] != "A" else "B"
    found[number] = found[number][:at] + letter + found[number][at + 1 :]
    write_notes(exported, found)
    code, report = audit(exported)
    assert (code, report["first_bad_index"]) == (1, [0, *sorted(SIZES)][number])


def test_a_signature_by_nobody(audit, exported):
    found = notes(exported)
    stranger = synthetic.signer()
    body = found[2].rpartition("\n\n")[0] + "\n"
    found[2] = stranger.sign(body)
    write_notes(exported, found)
    code, report = audit(exported)
    assert (code, report["first_bad_index"]) == (1, 256)


def rewritten(folder, entries, signers, old_notes):
    """Somebody without the key writes other entries, makes every tile fit, and keeps the signed checkpoints."""
    shutil.rmtree(folder)
    synthetic.export(folder, entries, signers)
    write_notes(folder, [note for note in old_notes if int(note.split("\n")[1]) <= len(entries)])


CHANGES = {
    "changed": (lambda rows: [*rows[:410], rows[410].replace(b'"ok"', b'"no"'), *rows[411:]], 410),
    "deleted": (lambda rows: [*rows[:410], *rows[411:]], 410),
    "inserted": (lambda rows: [*rows[:410], rows[7], *rows[410:]], 410),
    "swapped": (lambda rows: [*rows[:410], rows[411], rows[410], *rows[412:]], 410),
    "cut": (lambda rows: rows[:-30], None),
}


@pytest.mark.parametrize("kind", CHANGES)
def test_a_history_rewritten_with_all_its_tiles(audit, exported, entries, log_signer, kind):
    """The root signed next after the change does not fit: the change lies between it and the one before."""
    change, place = CHANGES[kind]
    old = notes(exported)
    rewritten(exported, change(entries), [log_signer], old)
    code, report = audit(exported)
    assert code == 1
    if place is not None:
        assert report["first_bad_index"] == 300
        assert report["problems"][0]["last"] == 511
    else:
        assert report["first_bad_index"] == 600
        assert "no signed checkpoint covers" in texts(report)


@pytest.mark.parametrize("kind", ["deleted", "inserted", "swapped"])
def test_entries_moved_within_a_bundle(audit, exported, kind):
    """With tiles as they were, the very entry is named."""
    path, rows = bundle(exported, 1)
    changed = {
        "deleted": [*rows[:44], *rows[45:]],
        "inserted": [*rows[:44], rows[3], *rows[44:]],
        "swapped": [*rows[:44], rows[45], rows[44], *rows[46:]],
    }[kind]
    path.write_bytes(b"".join(len(row).to_bytes(2, "big") + row for row in changed))
    synthetic.rehash(exported)
    code, report = audit(exported)
    assert (code, report["first_bad_index"]) == (1, 256 + 44)


def test_a_bundle_cut_off(audit, exported):
    path, rows = bundle(exported, 0)
    data = path.read_bytes()
    keep = sum(len(row) + 2 for row in rows[:100]) + 17
    path.write_bytes(data[:keep])
    synthetic.rehash(exported)
    code, report = audit(exported)
    assert (code, report["first_bad_index"]) == (1, 100)


def test_truncation_with_its_checkpoints_needs_a_saved_one(audit, exported, entries, log_signer, tmp_path):
    """A log that was cut back is a log: only who remembers more can tell."""
    saved = tmp_path / "saved"
    saved.write_text(notes(exported)[-1])
    shorter = tmp_path / "shorter"
    synthetic.export(shorter, entries[:512], [log_signer], sizes=SIZES)
    assert audit(shorter)[0] == 0
    code, report = audit(shorter, "--since", saved)
    assert (code, report["first_bad_index"]) == (1, 512)
    assert "cut or restored" in texts(report)


def test_a_forked_history(audit, exported, entries, log_signer, tmp_path):
    """Two logs, each without fault: who saved a checkpoint of one knows the other."""
    saved = tmp_path / "saved"
    saved.write_text(notes(exported)[3])
    fork = tmp_path / "fork"
    other = [*entries[:450], *synthetic.history(2, submissions=3)]
    synthetic.export(fork, other, [log_signer], sizes=SIZES)
    assert audit(fork)[0] == 0
    code, report = audit(fork, "--since", saved)
    assert (code, report["first_bad_index"]) == (1, 0)
    assert "forked" in texts(report)
    assert report["problems"][0]["last"] == 511
    (tmp_path / "early").write_text(notes(exported)[2])
    assert audit(fork, "--since", tmp_path / "early")[0] == 0


@pytest.mark.parametrize("place", [1, 3, 5])
def test_a_checkpoint_of_the_other_fork_slipped_in(audit, exported, entries, log_signer, place):
    """Rightly signed, and of another history."""
    other = [*entries[:50], *entries[60:], *entries[50:60]]
    sizes = sorted({*SIZES, len(entries)})
    found = notes(exported)
    found[place] = synthetic.checkpoints(other, {sizes[place]}, [log_signer])[0]
    write_notes(exported, found)
    code, report = audit(exported)
    assert (code, report["first_bad_index"]) == (1, sizes[place - 1])
    assert "root that was signed" in texts(report)


def test_a_replayed_checkpoint(audit, exported):
    found = notes(exported)
    write_notes(exported, [*found[:4], found[1], *found[4:]])
    code, report = audit(exported)
    assert (code, report["first_bad_index"]) == (1, 512)
    assert "older than the one before" in texts(report)


def test_two_checkpoints_swapped(audit, exported):
    found = notes(exported)
    write_notes(exported, [found[0], found[2], found[1], *found[3:]])
    code, report = audit(exported)
    assert (code, report["first_bad_index"]) == (1, 300)


def test_a_checkpoint_of_a_longer_log(audit, exported, entries, log_signer):
    longer = synthetic.checkpoints([*entries, b"{}"], {len(entries) + 1}, [log_signer])
    write_notes(exported, [*notes(exported), *longer])
    code, report = audit(exported)
    assert code == 1
    assert f"only {len(entries)} are here" in texts(report)


@pytest.mark.parametrize("name", ["entries/001", "tile/0/001", "checkpoints.txt", "keys.txt", "events.csv"])
def test_a_missing_file(audit, exported, name):
    (exported / name).unlink()
    code, report = audit(exported)
    assert code == 1
    assert f"{name} is missing" in texts(report)


@pytest.mark.parametrize("name", ["events.csv", "keys.txt", "checkpoints.txt", "entries/000", "tile/0/001"])
def test_a_file_that_is_not_the_manifests(audit, exported, name):
    body = json.loads((exported / "manifest.json").read_text())
    body["files"][name] = "0" * 64
    (exported / "manifest.json").write_text(json.dumps(body))
    code, report = audit(exported)
    assert code == 1
    assert f"{name} has another SHA-256" in texts(report)


@pytest.mark.parametrize(
    ("field", "value"),
    [("size", 600), ("withheld", 3), ("first", 1), ("last", 600), ("origin", "other.example")],
)
def test_a_manifest_that_says_something_else(audit, exported, field, value):
    body = json.loads((exported / "manifest.json").read_text())
    body[field] = value
    (exported / "manifest.json").write_text(json.dumps(body))
    assert audit(exported)[0] == 1


def test_an_entry_struck_out_is_told_as_withheld(audit, exported):
    """To withhold is allowed, to hide it is not: the number is in the report, and the manifest has to admit it."""
    path, rows = bundle(exported, 0)
    rows[9] = None
    path.write_bytes(encode_bundle(rows))
    synthetic.rehash(exported)
    code, report = audit(exported)
    assert code == 1
    assert "withheld" in texts(report)


def test_the_wrong_key(audit, exported):
    code, report = audit(exported, key=synthetic.signer().vkey)
    assert code == 1
    assert "trusted key" in texts(report)


def test_a_file_that_belongs_to_no_export(audit, exported):
    body = json.loads((exported / "manifest.json").read_text())
    body["files"]["../../etc/passwd"] = "0" * 64
    (exported / "manifest.json").write_text(json.dumps(body))
    code, report = audit(exported)
    assert code == 1
    assert "no part of this export" in texts(report)


def test_the_reports_root_is_that_of_a_recomputation(audit, exported, entries):
    tree = Frontier()
    tree.extend(map(leaf_hash, entries))
    code, report = audit(exported)
    assert (code, base64.b64decode(report["root"])) == (0, tree.root())
