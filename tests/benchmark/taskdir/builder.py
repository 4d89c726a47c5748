"""A small valid task directory to start from; tests change one file at a time."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmark.taskdir import pack, rules_yaml, toml, write_files

TASK: dict[str, Any] = {
    "schema": "lingee-task/1",
    "id": "finance-check-0001",
    "family": "fin-check",
    "domain": "finance",
    "category": "voucher",
    "operation": "query",
    "difficulty": "basic",
    "turns": 1,
    "title": {"zh": "核对", "en": "Check"},
    "budget": {"seconds": 60, "steps": 40, "tokens": 200000},
    "metadata": {
        "industry": "制造",
        "company_size": "中型",
        "role": "会计",
        "stage": "月结",
        "risk": "low",
        "source": "synthetic",
        "licence": "CC0-1.0",
        "multiple_solutions": "",
        "limitations": "",
        "traps": ["unit"],
    },
}
TABLE: dict[str, Any] = {
    "file": "核对结果.csv",
    "key": ["单据编号"],
    "columns": {"单据编号": "text", "差异金额": "number", "结论": "text"},
    "units": {"差异金额": "元"},
}
RULES: dict[str, Any] = {
    "schema": "rules/1",
    "mode": "itemised",
    "tables": {"result": TABLE},
    "threshold": [{"id": "T1", "check": "delivered", "of": "result"}],
    "fatal": [
        {"id": "F1", "check": "set", "at": {"table": "result", "column": "单据编号"}, "excludes": ["PO-3"]},
    ],
    "items": [
        {
            "id": "R1",
            "check": "exact",
            "at": {"table": "result", "row": {"单据编号": "PO-1"}, "column": "结论"},
            "expected": ["数量差异"],
        },
        {
            "id": "R2",
            "check": "numeric",
            "at": {"table": "result", "row": {"单据编号": "PO-1"}, "column": "差异金额"},
            "expected": "12000.00",
            "unit": "元",
            "tolerance": {"abs": "0.01"},
            "trap": "unit",
        },
    ],
}
VERIFIER = {
    "schema": "lingee-verifier/1",
    "mode": "itemised",
    "rules": "grading/rules.yaml",
    "evaluator": "1",
}
SAMPLES = {"baseline": {}, "adversarial": {"trap": "unit", "rule": "R2"}}
WORKSPACE = {
    "单据/收货.csv": "单据编号,数量\nPO-1,10\nPO-3,5\n".encode(),
    "说明.txt": "金额单位为万元\n".encode(),
}
HEADER = "单据编号,差异金额,结论\n"


def files(**changes: bytes) -> dict[str, bytes]:
    """All files of the task by path."""
    made = {
        "instruction.md": "请核对收货单，把结果写进「核对结果.csv」。\n".encode(),
        "task.toml": toml(TASK),
        "environment/workspace.tar.gz": pack(WORKSPACE),
        "tests/verifier.toml": toml(VERIFIER),
        "tests/grading/rules.yaml": rules_yaml(RULES),
        "tests/gold/samples.toml": toml(SAMPLES),
        "tests/gold/gold/workspace/核对结果.csv": (HEADER + "PO-1,12000.00,数量差异\n").encode(),
        "tests/gold/baseline/workspace/核对结果.csv": (HEADER + "PO-1,7,一致\n").encode(),
        "tests/gold/adversarial/workspace/核对结果.csv": (HEADER + "PO-1,1.2,数量差异\n").encode(),
    }
    made.update(changes)
    return made


def write(
    root: Path, changes: Mapping[str, bytes | None] | None = None, task_id: str = "finance-check-0001"
) -> Path:
    """Write the task below `root`; a change of None leaves a file out."""
    made: dict[str, bytes | None] = {**files(), **(changes or {})}
    target = root / task_id
    write_files(target, {name: content for name, content in made.items() if content is not None})
    return target
