"""Key rotation as the auditor sees it: one checkpoint with both signatures teaches the new key."""

from __future__ import annotations

import pytest

from audit.merkle.export import frame
from tests.client import synthetic

SIZES = {100, 300, 400, 600}


@pytest.fixture
def successor():
    return synthetic.signer()


@pytest.fixture
def plan(log_signer, successor):
    """The first key signs until 300, both sign at 300, then only the second."""
    return {0: [log_signer], 300: [log_signer, successor], 301: [successor]}


@pytest.fixture
def rotated(tmp_path, entries, plan):
    synthetic.export(tmp_path / "rotated", entries, plan, sizes=SIZES)
    return tmp_path / "rotated"


def test_who_trusts_the_old_key_learns_the_new_one(audit, rotated, successor):
    code, report = audit(rotated)
    assert (code, report["key"]) == (0, successor.vkey)


def test_all_keys_of_the_log_may_be_given_oldest_first(audit, rotated, tmp_path, log_signer, successor):
    (tmp_path / "log.key").write_text(f"{log_signer.vkey}\n{successor.vkey}\n")
    code, report = audit(rotated, key=tmp_path / "log.key")
    assert (code, report["key"]) == (0, successor.vkey)
    (tmp_path / "log.key").write_text("# none\n")
    code, report = audit(rotated, key=tmp_path / "log.key")
    assert (code, "holds no key" in report["error"]) == (2, True)


def test_who_trusts_the_new_key_need_not_know_the_old_one(audit, rotated, successor):
    code, report = audit(rotated, key=successor.vkey)
    assert (code, report["key"]) == (0, successor.vkey)


def test_after_the_rotation_the_old_key_counts_no_more(audit, tmp_path, entries, log_signer, successor):
    plan = {0: [log_signer], 300: [log_signer, successor], 301: [successor], 600: [log_signer]}
    synthetic.export(tmp_path / "e", entries, plan, sizes=SIZES)
    for key in (log_signer, successor):
        code, report = audit(tmp_path / "e", key=key.vkey)
        assert (code, report["first_bad_index"]) == (1, 400)


def test_a_key_without_a_handover_is_not_trusted(audit, tmp_path, entries, log_signer, successor):
    synthetic.export(tmp_path / "e", entries, {0: [log_signer], 300: [successor]}, sizes=SIZES)
    code, report = audit(tmp_path / "e")
    assert (code, report["first_bad_index"]) == (1, 100)


def test_the_old_signature_taken_off_the_handover(audit, rotated, entries, plan, successor):
    found = synthetic.checkpoints(entries, {*SIZES, len(entries)}, {**plan, 300: [successor]})
    (rotated / "checkpoints.txt").write_bytes(b"".join(map(frame, found)))
    synthetic.rehash(rotated)
    code, report = audit(rotated)
    assert (code, report["first_bad_index"]) == (1, 100)


def test_a_key_that_keys_txt_does_not_list_is_not_learned(audit, rotated, log_signer):
    (rotated / "keys.txt").write_text(f"{log_signer.vkey}\n")
    synthetic.rehash(rotated)
    code, report = audit(rotated)
    assert (code, report["first_bad_index"]) == (1, 300)


def test_two_rotations(audit, tmp_path, entries, log_signer, successor):
    third = synthetic.signer()
    plan = {
        0: [log_signer],
        100: [log_signer, successor],
        101: [successor],
        400: [successor, third],
        401: [third],
    }
    synthetic.export(tmp_path / "e", entries, plan, sizes=SIZES)
    for key in (log_signer, successor, third):
        code, report = audit(tmp_path / "e", key=key.vkey)
        assert (code, report["key"]) == (0, third.vkey)


def test_a_saved_checkpoint_of_the_old_key(audit, rotated, entries, plan, tmp_path, successor):
    (tmp_path / "saved").write_text(synthetic.checkpoints(entries, {100}, plan)[0])
    assert audit(rotated, "--since", tmp_path / "saved", key=successor.vkey)[0] == 0
