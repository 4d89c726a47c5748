"""Files and folders that somebody made to mislead or to stop the verifier: it says what they are, and ends."""

from __future__ import annotations

import json

from client.audit.main import main
from client.audit.report import Report


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
