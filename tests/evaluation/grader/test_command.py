"""The grader as its sandbox starts it: what it reads and writes, its exit codes, its cost."""

import json
import os
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from evaluation.grader import reward
from tests.benchmark.taskdir import builder

PACKAGES = Path(reward.__file__).parents[2]
ROW = "PO-1,1.20万元,数量差异\n"
SCRIPT_RULE = {"id": "R3", "check": "script", "script": "grading/check.py"}
READS_INPUT = """
import json, pathlib, sys
text = pathlib.Path(sys.argv[1], "核对结果.csv").read_text("utf-8") + pathlib.Path(sys.argv[2]).read_text("utf-8")
print(json.dumps({"score": "0.5" if "PO-1" in text and "done" in text else "0"}))
"""


def _place(root: Path, rules: dict[str, Any], script: str | None = None) -> Path:
    for folder in ("run/workspace", "scripts", "out"):
        (root / folder).mkdir(parents=True)
    (root / "rules.json").write_text(json.dumps(rules), "utf-8")
    (root / "run/workspace/核对结果.csv").write_text(builder.HEADER + ROW, "utf-8")
    (root / "run/reply.md").write_text("done", "utf-8")
    if script is not None:
        (root / "scripts/check.py").write_text(script, "utf-8")
    return root


def _run(root: Path, packages: Path = PACKAGES) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-S", "-I", str(packages / "evaluation/grader/__main__.py"), str(root)]
    return subprocess.run(command, env={}, capture_output=True, text=True, timeout=60, check=False)


def _with_script() -> dict[str, Any]:
    return {**builder.RULES, "items": [*builder.RULES["items"], SCRIPT_RULE]}


def test_a_run_is_graded_into_a_reward(tmp_path: Path) -> None:
    done = _run(_place(tmp_path, builder.RULES))
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads((tmp_path / "out/reward.json").read_bytes()) == {
        "schema": "reward/1",
        "score": "1",
        "success": True,
        "failure_type": None,
        "threshold_failed": [],
        "fatal_failed": [],
        "items": [{"id": "R1", "score": "1", "reason": "met"}, {"id": "R2", "score": "1", "reason": "met"}],
    }
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["reward.json"]


def test_it_needs_no_package_but_its_own(tmp_path: Path) -> None:
    copy = tmp_path / "packages"
    for name in ("scoring", "evaluation/grader"):
        shutil.copytree(PACKAGES / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(PACKAGES / "evaluation/__init__.py", copy / "evaluation/__init__.py")
    assert _run(_place(tmp_path / "grade", builder.RULES), copy).returncode == 0


@pytest.mark.parametrize("name", ["evaluation/__init__.py", "benchmark/__init__.py"])
def test_the_packages_above_stay_empty(name: str) -> None:
    assert (PACKAGES / name).read_text("utf-8") == ""


def test_a_hostile_workspace_still_gets_its_reward(tmp_path: Path) -> None:
    root = _place(tmp_path, builder.RULES)
    answer = root / "run/workspace/核对结果.csv"
    answer.unlink()
    os.mkfifo(answer)
    (root / "run/reply.md").unlink()
    (root / "run/reply.md").symlink_to("/etc/passwd")
    assert _run(root).returncode == 0
    outcome = reward.decode((root / "out/reward.json").read_bytes())
    assert outcome.score == 0
    assert outcome.failure_type == "missing_deliverable"


def test_no_workspace_at_all_is_graded_as_nothing(tmp_path: Path) -> None:
    root = _place(tmp_path, builder.RULES)
    shutil.rmtree(root / "run")
    assert _run(root).returncode == 0
    assert reward.decode((root / "out/reward.json").read_bytes()).score == 0


@pytest.mark.parametrize("content", ["{", "[]", '{"schema": "rules/9"}', "[" * 100_000])
def test_broken_rules_are_a_fault_and_not_a_zero(tmp_path: Path, content: str) -> None:
    root = _place(tmp_path, builder.RULES)
    (root / "rules.json").write_text(content, "utf-8")
    done = _run(root)
    assert done.returncode == 2
    assert done.stderr.startswith("rules: ")
    assert not (root / "out/reward.json").exists()


def test_a_reward_that_cannot_be_written_is_a_fault(tmp_path: Path) -> None:
    root = _place(tmp_path, builder.RULES)
    shutil.rmtree(root / "out")
    assert _run(root).returncode == 1


def test_a_script_reads_workspace_and_reply(tmp_path: Path) -> None:
    root = _place(tmp_path, _with_script(), READS_INPUT)
    assert _run(root).returncode == 0
    outcome = reward.decode((root / "out/reward.json").read_bytes())
    assert [str(item.score) for item in outcome.items] == ["1", "1", "0.5"]
    assert str(outcome.score) == "0.833333333"


@pytest.mark.parametrize(
    "script",
    [
        "raise SystemExit(1)",
        "print('score: 1')",
        "print('{\"score\": 1}')",
        'print(\'{"score": "1.5"}\')',
        'print(\'{"score": "NaN"}\')',
        "print('x' * 10_000_000)",
        "x = bytearray(3 * 1024 ** 3)",
        "import os; os.kill(os.getpid(), 9)",
        "print('{\"score\": \"' + '9' * 5000 + '\"}')",
    ],
)
def test_a_script_that_fails_on_a_run_is_a_failed_item(tmp_path: Path, script: str) -> None:
    done = _run(_place(tmp_path, _with_script(), script))
    assert done.returncode == 0
    assert done.stderr.startswith("script: check.py: ")
    outcome = reward.decode((tmp_path / "out/reward.json").read_bytes())
    assert [(str(item.score), item.reason.value) for item in outcome.items][2] == ("0", "malformed")
    assert not outcome.success


def test_a_script_that_is_not_there_is_a_fault_and_not_a_zero(tmp_path: Path) -> None:
    done = _run(_place(tmp_path, _with_script()))
    assert (done.returncode, done.stderr) == (3, "script: check.py: no such script\n")
    assert not (tmp_path / "out/reward.json").exists()


@pytest.mark.slow
def test_scripts_that_never_end_leave_time_for_the_reward(tmp_path: Path) -> None:
    items = [*builder.RULES["items"], *({**SCRIPT_RULE, "id": f"S{number}"} for number in range(4))]
    root = _place(tmp_path, {**builder.RULES, "items": items}, "import time; time.sleep(60)")
    begun = time.monotonic()
    assert _run(root).returncode == 0
    assert time.monotonic() - begun < 20
    outcome = reward.decode((root / "out/reward.json").read_bytes())
    assert [str(item.score) for item in outcome.items] == ["1", "1", "0", "0", "0", "0"]


def test_a_run_that_takes_all_the_memory_is_a_failed_item(tmp_path: Path) -> None:
    rules = {**builder.RULES, "documents": {"d": {"file": "d.json"}}}
    rules["items"] = [
        {"id": "D1", "check": "document", "at": {"document": "d"}, "expected": {"a": "1"}},
        *builder.RULES["items"],
    ]
    root = _place(tmp_path, rules)
    (root / "run/workspace/d.json").write_text('{"a": 1}', "utf-8")
    code = f"""
import sys
sys.argv = ["grader", {str(root)!r}]
sys.path.insert(0, {str(PACKAGES)!r})
from scoring import evidence
evidence.read_document = lambda *_: bytearray(2 * 1024 ** 3)
from evaluation.grader.__main__ import main
from pathlib import Path
sys.exit(main(Path({str(root)!r})))
"""
    done = subprocess.run([sys.executable, "-S", "-I", "-c", code], env={}, timeout=60, check=False)
    assert done.returncode == 0
    outcome = reward.decode((root / "out/reward.json").read_bytes())
    assert [item.reason.value for item in outcome.items] == ["too_large", "met", "met"]


@pytest.mark.serial
def test_it_starts_and_grades_without_loading_what_it_does_not_need(tmp_path: Path) -> None:
    root = _place(tmp_path, builder.RULES)

    def spent() -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert _run(root).returncode == 0
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    # 60 ms on the machine it was written on; importing a spreadsheet or a server library costs several times that.
    assert min(spent() for _ in range(8)) < 0.300
