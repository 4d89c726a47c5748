"""Every task passes admission; nothing the agent sees names the task; canaries change no verdict."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

from benchmark.synthetic import Summary, generate
from benchmark.taskdir import read_task, read_taskset, unpack, verify_digests
from evaluation.grader.admission import admit_many
from tests.benchmark.synthetic.banks import task_dirs

INTERNAL = re.compile(
    r"lingee|benchmark|评测|题集|考题|陷阱|评分|判分|得分|rules?\b|trap|gold|baseline|adversarial"
    r"|synthetic|合成数据",
    re.IGNORECASE,
)


def _problems(bank: Summary) -> dict[str, tuple[str, ...]]:
    return {r.task_id: r.problems for r in admit_many(task_dirs(bank)) if not r.passed}


def test_every_task_of_a_mini_bank_is_admitted(mini: Summary):
    assert _problems(mini) == {}


def test_every_practice_task_is_admitted(practice: Summary):
    assert _problems(practice) == {}


@pytest.mark.slow
@pytest.mark.serial
def test_every_task_of_a_full_bank_is_admitted_in_time(full: Summary):
    started = time.monotonic()
    assert _problems(full) == {}
    assert time.monotonic() - started < 90


def test_digests_hold(mini: Summary):
    assert verify_digests(mini.out, read_taskset(mini.out)) == []


def test_what_the_agent_sees_names_no_internals(mini: Summary):
    for task_dir in task_dirs(mini):
        task = read_task(task_dir)
        seen = [task.instruction.decode(), *(turn.decode() for turn in task.turns)]
        for name, content in unpack(task.workspace_file.read_bytes()).items():
            seen.append(name)
            seen.append(content.decode("utf-8", "ignore") if not name.endswith((".xlsx", ".png")) else "")
        text = "\n".join(seen)
        assert INTERNAL.search(text) is None, (task_dir.name, INTERNAL.search(text))
        assert task.meta.id not in text
        assert task.meta.family not in text


def test_an_adversarial_answer_names_a_trap_of_its_task(mini: Summary):
    for task_dir in task_dirs(mini):
        task = read_task(task_dir)
        assert task.samples.adversarial.trap == task.meta.metadata.traps[0]


def test_canaries_stand_in_everything_held_out_and_in_nothing_public(tmp_path: Path):
    bank = generate(tmp_path / "bank", version="2026.1", seed=3, size="mini", canary="kanarienvogel")
    groups = {entry.id: entry.group for entry in read_taskset(bank.out).tasks}
    marks: list[str] = []
    for task_dir in task_dirs(bank):
        task = read_task(task_dir)
        workspace = unpack(task.workspace_file.read_bytes())
        texts = {
            "statement": task.instruction.decode(),
            "cell": "".join(c.decode("utf-8", "ignore") for c in workspace.values()),
            "name": "".join(workspace),
            "gold": (task_dir / "tests/gold/gold/reply.md").read_text(encoding="utf-8"),
            "rules": (task_dir / "tests/grading/rules.yaml").read_text(encoding="utf-8"),
        }
        for kind, text in texts.items():
            found = re.findall(rf"kanarienvogel-{kind}-[0-9a-f]+", text)
            assert bool(found) == (groups[task_dir.name] != "public")
            marks += found
    assert len(set(marks)) == len(marks) == 5 * 130
    assert _problems(bank) == {}
