"""Digests: canonical, by part, and checked against the manifest."""

import hashlib
import re
from pathlib import Path

import pytest

from benchmark.taskdir import TaskDirError, digest, read_taskset, toml, verify_digests
from tests.benchmark.taskdir import builder


def test_the_canonical_form_is_the_documented_one(tmp_path: Path) -> None:
    (tmp_path / "turns").mkdir()
    (tmp_path / "instruction.md").write_bytes(b"a")
    (tmp_path / "turns" / "turn_2.md").write_bytes(b"bc")
    lines = b"lingee-files/1\n"
    lines += hashlib.sha256(b"a").hexdigest().encode() + b" 1 instruction.md\n"
    lines += hashlib.sha256(b"bc").hexdigest().encode() + b" 2 turns/turn_2.md\n"
    expected = hashlib.sha256(lines).hexdigest()
    found = digest(tmp_path)
    assert found.task == found.instruction == expected
    assert found.gold == found.grading == found.environment == hashlib.sha256(b"lingee-files/1\n").hexdigest()


@pytest.mark.parametrize(
    ("file", "part"),
    [
        ("instruction.md", "instruction"),
        ("environment/workspace.tar.gz", "environment"),
        ("tests/grading/rules.yaml", "grading"),
        ("tests/verifier.toml", "grading"),
        ("tests/gold/gold/workspace/核对结果.csv", "gold"),
        ("task.toml", None),
    ],
)
def test_a_changed_file_changes_its_part_and_the_whole(tmp_path: Path, file: str, part: str | None) -> None:
    task = builder.write(tmp_path)
    before = digest(task)
    (task / file).write_bytes((task / file).read_bytes() + b"\n")
    after = digest(task)
    changed = {name for name in before.__slots__ if getattr(before, name) != getattr(after, name)}
    assert changed == {"task"} | ({part} if part else set())


def test_modes_and_times_do_not_count(tmp_path: Path) -> None:
    task = builder.write(tmp_path)
    before = digest(task)
    (task / "task.toml").chmod(0o600)
    assert digest(task) == before


def test_a_fifo_is_refused(tmp_path: Path) -> None:
    import os

    task = builder.write(tmp_path)
    os.mkfifo(task / "tests" / "pipe")
    with pytest.raises(TaskDirError, match=re.escape("tests/pipe: is not a regular file")):
        digest(task)


def _manifest(digests: dict[str, str]) -> bytes:
    tasks = [{"id": name, "group": "held_out", "digest": value} for name, value in digests.items()]
    return toml(
        {
            "schema": "lingee-taskset/1",
            "version": "2026.1",
            "seed": 7,
            "size": "mini",
            "synthetic": True,
            "tasks": tasks,
        }
    )


def test_the_manifest_tells_changed_missing_and_unlisted_tasks(tmp_path: Path) -> None:
    task = builder.write(tmp_path / "tasks")
    builder.write(tmp_path / "tasks", task_id="stray")
    (tmp_path / "taskset.toml").write_bytes(_manifest({task.name: digest(task).task, "gone": "0" * 64}))
    assert verify_digests(tmp_path, read_taskset(tmp_path)) == ["gone", "stray"]
    (task / "instruction.md").write_bytes(b"changed")
    assert verify_digests(tmp_path, read_taskset(tmp_path)) == [task.name, "gone", "stray"]


def test_the_manifest_refuses_an_id_twice_and_an_unknown_key(tmp_path: Path) -> None:
    written = _manifest({"a": "0" * 64})
    (tmp_path / "taskset.toml").write_bytes(written + written[written.index(b"[[tasks]]") :])
    with pytest.raises(TaskDirError, match="task id 'a' stands twice"):
        read_taskset(tmp_path)
    (tmp_path / "taskset.toml").write_bytes(b"extra = 1\n" + written)
    with pytest.raises(TaskDirError, match=re.escape("taskset.toml.extra")):
        read_taskset(tmp_path)
