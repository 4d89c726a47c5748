"""Short ways to write rule sets and artefacts in tests."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scoring.artefacts import Artefacts
from scoring.channel import RuleOutcome, grade
from scoring.rules import RuleSet, load

TABLE: dict[str, Any] = {
    "file": "结果.csv",
    "key": ["单号"],
    "columns": {"单号": "text", "金额": "number", "占比": "number", "结论": "text"},
}


def cell(row: str, column: str) -> dict[str, Any]:
    """One cell of the table "result"."""
    return {"table": "result", "row": {"单号": row}, "column": column}


def column(name: str) -> dict[str, Any]:
    """One column of the table "result"."""
    return {"table": "result", "column": name}


def ruleset(*items: Mapping[str, Any], **changes: Any) -> RuleSet:
    """Rules with the table "result" and the document "summary"; items get ids R1, R2 …"""
    data: dict[str, Any] = {
        "schema": "rules/1",
        "mode": "itemised",
        "tables": {"result": TABLE},
        "documents": {"summary": {"file": "summary.json"}},
        "items": [{"id": f"R{number}", **item} for number, item in enumerate(items, start=1)],
    }
    return load({**data, **changes})


def workspace(root: Path, files: Mapping[str, str | bytes], reply: str | None = None) -> Artefacts:
    """Write the files below `root`; text as UTF-8."""
    for name, content in files.items():
        target = root / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.encode() if isinstance(content, str) else content)
    return Artefacts(root, reply)


def score(rules: RuleSet, artefacts: Artefacts) -> list[tuple[str, str]]:
    """(score, reason) of each ordinary item."""
    return [(str(item.score.normalize()), item.reason.value) for item in grade(rules, artefacts).items]


def graded(rules: RuleSet, artefacts: Artefacts) -> RuleOutcome:
    """The whole outcome."""
    return grade(rules, artefacts)
