"""Check scripts are held to their deadline, and nothing of them stays behind."""

import time
from decimal import Decimal
from pathlib import Path

import pytest

from evaluation.grader.faults import ScriptFailed, ScriptFault
from evaluation.grader.scripts import run_script


def _script(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "check.py"
    path.write_text(text, "utf-8")
    return path


def test_the_printed_score_comes_back(tmp_path: Path) -> None:
    script = _script(tmp_path, "import sys; print('{\"score\": \"0.25\"}' if sys.argv[2:] == [''] else '')")
    assert run_script(script, tmp_path, None) == Decimal("0.25")


def test_a_script_past_its_deadline_is_killed_with_its_children(tmp_path: Path) -> None:
    mark = tmp_path / "alive"
    text = f"""
import os, time
if os.fork() == 0:
    time.sleep(2)
    open({str(mark)!r}, "w").close()
time.sleep(60)
"""
    begun = time.monotonic()
    with pytest.raises(ScriptFailed, match=r"check\.py: ran longer than 0\.5 s"):
        run_script(_script(tmp_path, text), tmp_path, None, seconds=0.5)
    assert time.monotonic() - begun < 2
    time.sleep(2)
    assert not mark.exists()


def test_a_script_sees_no_environment_of_the_platform(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", "secret")
    text = "import os; print('{\"score\": \"%d\"}' % ('DATABASE_URL' not in os.environ))"
    assert run_script(_script(tmp_path, text), tmp_path, None) == 1


def test_a_script_that_is_not_there_did_not_fail(tmp_path: Path) -> None:
    with pytest.raises(ScriptFault) as caught:
        run_script(tmp_path / "check.py", tmp_path, None)
    assert not isinstance(caught.value, ScriptFailed)
