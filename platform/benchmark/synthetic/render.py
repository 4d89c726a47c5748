"""From a draft to the bytes of a task directory."""

from __future__ import annotations

import json
from dataclasses import dataclass
from random import Random
from typing import Any

from benchmark import taskdir
from benchmark.synthetic import mess, names
from benchmark.synthetic.drafts import Draft, Family
from benchmark.synthetic.rulebook import Answer, Rules

LICENCE = "CC-BY-4.0"
DIFFICULTY = {1: "basic", 2: "intermediate", 3: "hard"}


@dataclass(frozen=True)
class Card:
    """Where a task stands: its id, group and family, its level and the traps in it."""

    id: str
    family: Family
    level: int
    traps: tuple[str, ...]


def task_files(card: Card, draft: Draft, rng: Random) -> dict[str, bytes]:
    """All files of one task directory by relative path."""
    verifier = {
        "schema": "lingee-verifier/1",
        "mode": draft.rules.mode,
        "rules": "grading/rules.yaml",
        "evaluator": "1",
    }
    samples = {"baseline": {}, "adversarial": {"trap": card.traps[0], "rule": draft.rule}}
    files: dict[str, bytes] = {
        "instruction.md": draft.instruction.encode(),
        "task.toml": taskdir.toml(_task_toml(card, draft, rng)),
        "environment/workspace.tar.gz": taskdir.pack(draft.files),
        "tests/verifier.toml": taskdir.toml(verifier),
        "tests/grading/rules.yaml": taskdir.rules_yaml(draft.rules.mapping()),
        "tests/gold/samples.toml": taskdir.toml(samples),
    }
    for number, turn in enumerate(draft.turns, 2):
        files[f"turns/turn_{number}.md"] = turn.encode()
    for kind in ("gold", "baseline", "adversarial"):
        for name, content in answer_files(draft.rules, getattr(draft, kind)).items():
            files[f"tests/gold/{kind}/{name}"] = content
    return files


def answer_files(rules: Rules, answer: Answer) -> dict[str, bytes]:
    """The files and the reply in which an answer would be handed in."""
    files: dict[str, bytes] = {}
    reply = answer.reply or "已处理，结果见下。"
    for name, rows in answer.tables.items():
        table = rules.tables[name]
        columns = list(table.columns)
        if not table.file:
            reply += "\n\n" + mess.markdown_table(rows, columns)
        elif table.file.endswith(".xlsx"):
            plain = [{c: row[c] for c in columns} for row in rows]
            files[f"workspace/{table.file}"] = mess.workbook({table.sheet: plain})
        else:
            files[f"workspace/{table.file}"] = mess.csv_text(rows, columns).encode("utf-8-sig")
    for name, document in answer.documents.items():
        text = json.dumps(document, ensure_ascii=False, indent=1)
        files[f"workspace/{rules.documents[name]}"] = (text + "\n").encode()
    for name, text in answer.files.items():
        files[f"workspace/{name}"] = text.encode()
    return files | {"reply.md": (reply.rstrip() + "\n").encode()}


def _task_toml(card: Card, draft: Draft, rng: Random) -> dict[str, Any]:
    family = card.family
    metadata = {
        "industry": rng.choice(names.INDUSTRIES),
        "company_size": rng.choice(names.SIZES),
        "role": family.role,
        "stage": family.stage,
        "risk": family.risk,
        "source": "synthetic",
        "licence": LICENCE,
        "multiple_solutions": family.multiple_solutions,
        "limitations": family.limitations,
        "traps": list(card.traps),
    }
    return {
        "schema": "lingee-task/1",
        "id": card.id,
        "family": family.key,
        "domain": family.domain,
        "category": family.category,
        "operation": family.operation,
        "difficulty": DIFFICULTY[card.level],
        "turns": 1 + len(draft.turns),
        "title": {"zh": draft.title[0], "en": draft.title[1]},
        "budget": {"seconds": draft.seconds, "steps": 40, "tokens": 200_000},
        "metadata": metadata,
    }
