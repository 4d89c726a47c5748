"""What needs no site: a receipt against a kept key, and bars that are drawn on a terminal only."""

from __future__ import annotations

import shutil
import sys

import pytest

from client.cli.output import Output
from tests.client.test_wheel import auditor  # noqa: F401 - a fixture


def test_a_receipt_is_verified_without_a_site(lg, folder, auditor, monkeypatch):  # noqa: F811 - a fixture
    shutil.copy(auditor / "receipt.json", folder)
    monkeypatch.setenv("LGBENCH_SITE", "http://127.0.0.1:9")
    said = lg("verify", "receipt.json", "--key", str(auditor / "key"), "--json")
    assert (said.code, said.json["ok"]) == (0, True), said.everything
    assert said.json["report"].startswith("OK")
    assert lg("verify", "receipt.json").code == 5  # no key yet, and the site does not answer
    (folder / ".lgbench").mkdir(exist_ok=True)
    shutil.copy(auditor / "key", folder / ".lgbench/log.key")
    assert lg("verify", "receipt.json").code == 0
    text = (folder / "receipt.json").read_text()
    (folder / "receipt.json").write_text(text.replace("index ", "index 1"))
    said = lg("verify", "receipt.json")
    assert (said.code, said.out.startswith("BROKEN")) == (5, True), said.everything


@pytest.mark.parametrize(
    ("terminal", "as_json", "drawn"), [(True, False, True), (True, True, False), (False, False, False)]
)
def test_progress_is_for_terminals(monkeypatch, capsys, terminal, as_json, drawn):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("FORCE_COLOR", "1")
    with Output(as_json=as_json).bar("Uploading") as report:
        report(1, 2)
        report(2, 2)
    out, err = capsys.readouterr()
    assert out == ""
    assert ("Uploading" in err) is drawn
