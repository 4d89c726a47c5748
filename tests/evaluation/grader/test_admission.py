"""A task is admitted only when its samples score as they must and its workspace gives nothing away."""

import copy
import re
from pathlib import Path
from typing import Any

import pytest

from benchmark.taskdir import pack, rules_yaml, toml
from evaluation.grader.admission import admit, admit_many
from evaluation.grader.batch import Job, grade_many
from tests.benchmark.taskdir import builder

GOLD = "tests/gold/gold/workspace/核对结果.csv"
BASELINE = "tests/gold/baseline/workspace/核对结果.csv"
ADVERSARIAL = "tests/gold/adversarial/workspace/核对结果.csv"
WORKSPACE = "environment/workspace.tar.gz"
RULES = "tests/grading/rules.yaml"
SAMPLES = "tests/gold/samples.toml"


def _problems(tmp_path: Path, changes: dict[str, bytes | None]) -> tuple[str, ...]:
    return admit(builder.write(tmp_path, changes)).problems


def _rows(*rows: str) -> bytes:
    return (builder.HEADER + "".join(row + "\n" for row in rows)).encode()


def _rules(mode: str = "itemised", items: list[dict[str, Any]] | None = None) -> dict[str, bytes | None]:
    rules = copy.deepcopy(builder.RULES)
    rules["mode"] = mode
    rules["items"] += items or []
    return {RULES: rules_yaml(rules), "tests/verifier.toml": toml({**builder.VERIFIER, "mode": mode})}


def _samples(rule: str) -> dict[str, bytes | None]:
    return {SAMPLES: toml({"baseline": {}, "adversarial": {"trap": "x", "rule": rule}})}


def _workspace(**files: bytes) -> dict[str, bytes | None]:
    return {WORKSPACE: pack({**builder.WORKSPACE, **files})}


def test_a_sound_task_passes(tmp_path: Path) -> None:
    report = admit(builder.write(tmp_path))
    assert (report.task_id, report.passed, report.problems) == ("finance-check-0001", True, ())


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({GOLD: _rows("PO-1,12000,一致")}, "gold: scores 0.5, not 1; not met: R1 (wrong)"),
        ({GOLD: None}, "gold: is empty"),
        ({GOLD: b""}, "gold: is empty"),
        ({BASELINE: _rows("PO-1,7,数量差异")}, "baseline: scores 0.5, not 0"),
        ({BASELINE: b"nothing"}, "baseline: does not deliver (T1), so it is no plausible answer"),
        ({BASELINE: None}, "baseline: is empty"),
        ({ADVERSARIAL: _rows("PO-1,12000,数量差异")}, "adversarial: does not fail R2, the rule it names"),
        ({ADVERSARIAL: _rows("PO-1,12000,数量差异")}, "adversarial: scores 1, not between 0 and 1"),
        ({ADVERSARIAL: _rows("PO-1,12000,一致")}, "adversarial: does not fail R2, the rule it names"),
        (
            {ADVERSARIAL: _rows("PO-1,1.2,一致")},
            "adversarial: scores 0, not between 0 and 1; not met: R1 (wrong), R2",
        ),
        ({"task.toml": b""}, "task.toml.schema: Field required"),
        ({"tests/gold/other.txt": b"x"}, "tests/gold/other.txt: no part of a task directory"),
        ({WORKSPACE: b"junk"}, "environment/workspace.tar.gz: is not a gzip file"),
        (_workspace(**{"tests/x.txt": b"1"}), "has a name of the hidden side: 'tests'"),
        (_workspace(**{".git/HEAD": b"1"}), "has a name of the hidden side: '.git'"),
        (_workspace(**{"a/rules.yaml": b"1"}), "has a name of the hidden side: 'rules.yaml'"),
        (_workspace(**{"a.txt": b"see finance-check-0001"}), "names the task: 'finance-check-0001'"),
        (_workspace(**{"fin-check.csv": b"1"}), "names the task: 'fin-check'"),
        (_workspace(**{"a.txt": b"Lingee Bench 2026"}), "holds 'Lingee'"),
        (_workspace(**{"a.txt": b"canary GUID 26b5c67b"}), "holds 'canary GUID'"),
        ({"instruction.md": "见 tests/gold/".encode()}, "instruction.md: holds 'tests/gold'"),
        (_workspace(**{"核对结果.csv": _rows("PO-1,12000.00,数量差异")}), "is the gold answer itself"),
        (
            _workspace(**{"核对结果.csv": _rows("PO-1,1,数量差异")}),
            "environment: the untouched workspace scores 0.5",
        ),
    ],
)
def test_each_fault_is_named(tmp_path: Path, changes: dict[str, bytes | None], problem: str) -> None:
    found = _problems(tmp_path, changes)
    assert any(problem in line for line in found), found


def test_a_word_inside_a_workbook_is_found(tmp_path: Path) -> None:
    import io

    from openpyxl import Workbook

    book, stream = Workbook(), io.BytesIO()
    book.create_sheet("数据")["A1"] = "finance-check-0001"
    book.save(stream)
    found = _problems(tmp_path, _workspace(**{"表.xlsx": stream.getvalue()}))
    assert len(found) == 1
    assert re.search(r"'表.xlsx' \(xl/(sharedStrings|worksheets/sheet2)\.xml\): names the task", found[0])


def test_a_link_in_the_archive_keeps_the_task_out(tmp_path: Path) -> None:
    import io
    import tarfile

    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w:gz") as archive:
        member = tarfile.TarInfo("link")
        member.type, member.linkname = tarfile.SYMTYPE, "/etc/shadow"
        archive.addfile(member)
    assert _problems(tmp_path, {WORKSPACE: raw.getvalue()}) == (
        "environment/workspace.tar.gz: 'link' is not a regular file",
    )


def test_all_or_nothing_wants_exactly_the_named_rule_to_fail(tmp_path: Path) -> None:
    assert _problems(tmp_path / "a", _rules("all_or_nothing")) == ()
    both = {**_rules("all_or_nothing"), ADVERSARIAL: _rows("PO-1,1.2,一致")}
    assert _problems(tmp_path / "b", both) == (
        "adversarial: must fail R2 and nothing else, fails R1 (wrong), R2 (wrong)",
    )


def test_a_fatal_trap_wants_exactly_the_fatal_rule_to_fail(tmp_path: Path) -> None:
    caught = {**_samples("F1"), ADVERSARIAL: _rows("PO-1,12000,数量差异", "PO-3,1,x")}
    assert _problems(tmp_path / "a", caught) == ()
    clean = {**_samples("F1"), ADVERSARIAL: _rows("PO-1,12000,数量差异")}
    assert _problems(tmp_path / "b", clean) == (
        "adversarial: scores 1, not 0",
        "adversarial: must fail F1 and nothing else, fails nothing",
    )


CHECK = """import json, pathlib, sys
workspace = pathlib.Path(sys.argv[1])
answers = [file.read_text("utf-8") for file in workspace.glob("*.csv")]
met = (workspace / "说明.txt").is_file() and any("12000" in answer for answer in answers)
print(json.dumps({"score": str(int(met))}))
"""


def test_a_script_sees_the_answer_over_the_workspace(tmp_path: Path) -> None:
    rule = {"id": "R3", "check": "script", "script": "grading/check.py"}
    assert _problems(tmp_path, {**_rules(items=[rule]), "tests/grading/check.py": CHECK.encode()}) == ()


def test_a_script_that_fails_keeps_the_task_out(tmp_path: Path) -> None:
    rule = {"id": "R3", "check": "script", "script": "grading/check.py"}
    found = _problems(tmp_path, {**_rules(items=[rule]), "tests/grading/check.py": b"raise SystemExit(4)\n"})
    assert found == ("check.py: ended with 4",)


def test_many_tasks_are_reported_in_their_order(tmp_path: Path) -> None:
    paths = [builder.write(tmp_path / str(number)) for number in range(20)]
    (paths[7] / "instruction.md").write_bytes(b" ")
    reports = admit_many(paths)
    assert [number for number, report in enumerate(reports) if not report.passed] == [7]
    assert reports[7].problems == ("instruction.md: is empty",)


def test_grading_many_answers(tmp_path: Path) -> None:
    import json

    task = builder.write(tmp_path)
    rules = json.dumps(builder.RULES).encode()
    jobs = [Job(name, rules, task / "tests/gold" / name / "workspace") for name in ("gold", "adversarial")]
    jobs.append(Job("broken", b"{}", task))
    graded = grade_many(jobs)
    assert [(one.key, one.outcome and str(one.outcome.score)) for one in graded] == [
        ("gold", "1"),
        ("adversarial", "0.5"),
        ("broken", None),
    ]
    assert graded[2].fault == "rules.schema: missing"
