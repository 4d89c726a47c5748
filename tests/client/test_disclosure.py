"""What withheld entries leave open is said: findings that fell away, and withheld positions that nobody announced."""

from __future__ import annotations

import json

import pytest

from client.audit.main import main
from tests.client import synthetic

STRIPPED = ("submission.admitted", "submission.moved", "slot.consumed", "release_policy.set")


@pytest.fixture
def stripped(entries):
    """The history without the events that most rules rest on."""
    return [entry for entry in entries if json.loads(entry)["kind"] not in STRIPPED]


def test_one_withheld_entry_does_not_silence_the_rules(audit, tmp_path, stripped, log_signer, capsys):
    synthetic.export(tmp_path / "whole", stripped, [log_signer])
    code, whole = audit(tmp_path / "whole", "--strict")
    assert code == 1
    synthetic.export(tmp_path / "e", stripped, [log_signer], withheld={0})
    code, report = audit(tmp_path / "e", "--strict")
    assert code == 0
    # All that the whole log is found guilty of falls away; the first one needs no excuse but this entry's.
    assert report["unjudged"] >= len(whole["broken_rules"]) > 20
    assert report["first_unjudged"] == 1
    assert main(["verify", str(tmp_path / "e"), "--key", log_signer.vkey, "--strict"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "OK"
    assert lines[1] == (
        f"OK as far as disclosed: {report['unjudged']} findings could not be judged because entries are "
        f"withheld, first at entry 1"
    )


def test_a_whole_log_leaves_nothing_open(audit, exported, log_signer, capsys):
    code, report = audit(exported, "--strict")
    assert (code, report["unjudged"], report["first_unjudged"]) == (0, 0, None)
    main(["verify", str(exported), "--key", log_signer.vkey, "--strict"])
    assert "as far as" not in capsys.readouterr().out


def test_only_what_would_be_a_finding_counts_as_open(audit, tmp_path, entries, log_signer):
    """A withheld read of a result is missed by no rule; a withheld release is missed by that read."""
    read = next(at for at, entry in enumerate(entries) if b'"kind":"result.read"' in entry)
    release = next(at for at, entry in enumerate(entries) if b'"kind":"result.released"' in entry)
    synthetic.export(tmp_path / "read", entries, [log_signer], withheld={read})
    assert audit(tmp_path / "read", "--strict")[1]["unjudged"] == 0
    synthetic.export(tmp_path / "release", entries, [log_signer], withheld={release})
    report = audit(tmp_path / "release", "--strict")[1]
    assert (report["unjudged"], report["first_unjudged"]) == (1, read)


def test_withheld_entries_that_nobody_announced_are_told(audit, tmp_path, entries, log_signer):
    write = synthetic.Scribe(5)
    said = write.event("entry.withheld", "entry", "300", asked_by="a", agreed_by="b", reason="r")
    rows = [*entries, said, write.event("account.created", "account", "x")]
    # Without the first ten and what follows the last disclosed one, which were not asked for.
    hidden = {*range(10), 40, 41, 300, len(rows) - 1}
    synthetic.export(tmp_path / "e", rows, [log_signer], withheld=hidden)
    code, report = audit(tmp_path / "e", "--strict")
    assert code == 0
    assert [(item["first"], item["what"]) for item in report["notices"]] == [
        (40, "withheld, and no disclosed entry says why: 2 between the disclosed ones (40, 41)")
    ]
