"""The reader takes what the contract names and refuses the rest, naming file and key."""

import copy
import re
from pathlib import Path

import pytest

from benchmark.taskdir import TaskDirError, read_rules_data, read_task, rules_yaml, toml, write_files
from tests.benchmark.taskdir import builder


def test_a_valid_task_is_read_whole(tmp_path: Path) -> None:
    task = read_task(builder.write(tmp_path))
    assert task.meta.domain == "finance"
    assert task.meta.budget.seconds == 60
    assert [rule.id for rule in task.ruleset.rules] == ["T1", "F1", "R1", "R2"]
    assert task.samples.adversarial.rule == "R2"
    assert task.turns == ()
    assert task.rules_json.startswith(b'{"fatal":')
    assert task.workspace_file.is_file()
    assert (task.sample_dir("gold") / "workspace" / "核对结果.csv").is_file()


def _task(**changes: object) -> bytes:
    return toml({**builder.TASK, **changes})


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("task.toml", None, "task.toml: missing"),
        ("task.toml", _task(colour="red"), "task.toml.colour: Extra inputs"),
        ("task.toml", _task(turns="1"), "task.toml.turns: Input should be a valid integer"),
        ("task.toml", _task(turns=2), "turns/turn_2.md: missing"),
        ("task.toml", _task(domain="law"), "task.toml.domain:"),
        ("task.toml", _task(domain="general"), "category must be one of"),
        ("task.toml", _task(id="other-0001"), "task.toml.id: is 'other-0001'"),
        ("task.toml", b"id = ", "task.toml: Invalid value"),
        ("turns/turn_2.md", b"more", "turns/turn_2.md: more turns than task.toml states"),
        ("instruction.md", b" \n", "instruction.md: is empty"),
        ("instruction.md", b"\xff\xfe", "instruction.md: is not UTF-8"),
        ("notes.txt", b"x", "notes.txt: no part of a task directory"),
        ("tests/gold/other/reply.md", b"x", "tests/gold/other/reply.md: no part of a task directory"),
        ("tests/grading/check.py", b"print()", "tests/grading/check.py: no rule runs this script"),
        ("tests/grading/rules.yaml", b"a: [", "tests/grading/rules.yaml: "),
        ("tests/grading/rules.yaml", b"- a", "tests/grading/rules.yaml: must be a mapping"),
        (
            "tests/verifier.toml",
            toml({**builder.VERIFIER, "mode": "all_or_nothing"}),
            "tests/verifier.toml.mode",
        ),
        (
            "tests/gold/samples.toml",
            toml({"baseline": {}, "adversarial": {"trap": "unit", "rule": "R9"}}),
            "tests/gold/samples.toml.adversarial.rule: no rule 'R9'",
        ),
    ],
)
def test_what_breaks_the_contract_is_named(
    tmp_path: Path, file: str, content: bytes | None, message: str
) -> None:
    with pytest.raises(TaskDirError, match=re.escape(message)):
        read_task(builder.write(tmp_path, {file: content}))


def test_a_broken_rule_is_named_by_its_id(tmp_path: Path) -> None:
    rules = copy.deepcopy(builder.RULES)
    rules["items"][1]["tolerance"] = {"abs": 0.01}
    with pytest.raises(
        TaskDirError, match=re.escape("tests/grading/rules.yaml: R2.tolerance.abs: must be a decimal")
    ):
        read_task(builder.write(tmp_path, {"tests/grading/rules.yaml": rules_yaml(rules)}))


def test_a_rule_whose_script_is_absent_is_refused(tmp_path: Path) -> None:
    rules = copy.deepcopy(builder.RULES)
    rules["items"].append({"id": "R3", "check": "script", "script": "grading/check.py"})
    written = rules_yaml(rules)
    with pytest.raises(TaskDirError, match=re.escape("no script 'grading/check.py'")):
        read_task(builder.write(tmp_path, {"tests/grading/rules.yaml": written}))
    changes = {"tests/grading/rules.yaml": written, "tests/grading/check.py": b"print()"}
    assert read_task(builder.write(tmp_path / "b", changes)).scripts == {"grading/check.py": b"print()"}


def test_turns_are_read_in_order(tmp_path: Path) -> None:
    changes = {"task.toml": _task(turns=3), "turns/turn_2.md": b"second", "turns/turn_3.md": b"third"}
    assert read_task(builder.write(tmp_path, changes)).turns == (b"second", b"third")


def test_a_link_in_the_directory_is_refused(tmp_path: Path) -> None:
    task = builder.write(tmp_path)
    (task / "tests" / "gold" / "gold" / "reply.md").symlink_to("/etc/hostname")
    with pytest.raises(TaskDirError, match=re.escape("tests/gold/gold/reply.md: is not a regular file")):
        read_task(task)


def test_a_key_twice_in_the_rules_is_an_error() -> None:
    with pytest.raises(TaskDirError, match="key 'mode' stands twice"):
        read_rules_data(b"mode: itemised\nmode: all_or_nothing\n")


def test_rules_survive_writing_and_reading() -> None:
    assert read_rules_data(rules_yaml(builder.RULES)) == builder.RULES


def test_unicode_file_names_are_allowed(tmp_path: Path) -> None:
    task = builder.write(tmp_path)
    write_files(task, {"tests/gold/gold/workspace/附件/说明 1.txt": b"x"})
    assert read_task(task).meta.id == task.name
